import { METADATA_EVENT } from '../../contract/agent/stream-event.ts';
import type { ThreadStreamMode } from '../../contract/agent/thread.ts';
import type { Follower, LoggedEvent } from '../runs/event-log.ts';

/** The event that tells of a state that somebody wrote by hand. */
export const STATE_UPDATE_EVENT = 'state_update';

/** What is kept (characters) of one thread at most, for those who come back. */
export const MOST_KEPT = 4 * 1024 * 1024;
/** How many events can have their numbers in one millisecond before the numbers run ahead. */
const PER_MS = 1000;

/** The number of the first event that may happen at a time (ms since the epoch). */
export const idAt = (ms: number): number => Math.floor(ms) * PER_MS;

/** The time (ms since the epoch) at which an event with this number happened. */
export const timeOf = (id: number): number => Math.floor(id / PER_MS);

/** Whether an event is one of the modes. */
export function isOfModes(event: string, modes: readonly ThreadStreamMode[]): boolean {
  if (event === STATE_UPDATE_EVENT) return modes.includes('state_update');
  return modes.includes('run_modes') || (modes.includes('lifecycle') && event === METADATA_EVENT);
}

/**
 * What happens on one thread, told to whoever follows. Numbers of events grow with time, so that they mean something to
 * other processes too.
 */
export class ThreadEvents {
  readonly #followers = new Set<Follower>();
  readonly #now: () => number;
  readonly #most: () => number;
  #kept: LoggedEvent[] = [];
  #size = 0;
  #last: number;
  #complete: number;

  /**
   * @param now milliseconds since the epoch.
   * @param most how much (characters) may be kept now.
   */
  constructor(now: () => number, most = () => MOST_KEPT) {
    this.#now = now;
    this.#most = most;
    this.#last = idAt(now());
    this.#complete = this.#last;
  }

  /** Events with a higher number than this are all here. */
  get complete(): number {
    return this.#complete;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  add(event: string, json: string): void {
    this.#last = Math.max(this.#last + 1, idAt(this.#now()));
    const logged = { id: this.#last, event, json };
    this.#kept.push(logged);
    this.#size += json.length;
    this.#trim();
    for (const follower of this.#followers) follower(logged);
  }

  /** Follows: what is kept after `afterId`, then what happens; where it is undefined, what happens. */
  follow(follower: Follower, afterId: number | undefined): () => void {
    if (afterId !== undefined) for (const event of this.#kept) if ((event.id ?? 0) > afterId) follower(event);
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** Nothing more will happen. */
  close(): void {
    for (const follower of this.#followers) follower(undefined);
    this.#followers.clear();
  }

  #trim(): void {
    while (this.#size > this.#most()) {
      const dropped = this.#kept.shift();
      if (dropped === undefined) return;
      this.#size -= dropped.json.length;
      this.#complete = dropped.id ?? this.#complete;
    }
  }
}
