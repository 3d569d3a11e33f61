import { metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { ThreadStreamMode } from '../../../contract/agent/thread.ts';
import type { Follower, LoggedEvent } from '../runs/event-log.ts';

export const stateUpdateEvent = 'state_update';

/** The memory limit (characters) of one thread's events, for clients that reconnect. */
export const maxKept = 4 * 1024 * 1024;
/** The number of events per millisecond before the numbers run ahead of the clock. */
const perMs = 1000;

/** The lowest event number at a time (ms since the epoch). */
export const idAt = (ms: number): number => Math.floor(ms) * perMs;

/** The time (ms since the epoch) of an event number. */
export const timeOf = (id: number): number => Math.floor(id / perMs);

/** Whether an event belongs to one of the modes. */
export function isOfModes(event: string, modes: readonly ThreadStreamMode[]): boolean {
  if (event === stateUpdateEvent) return modes.includes('state_update');
  return modes.includes('run_modes') || (modes.includes('lifecycle') && event === metadataEvent);
}

/** The events on one thread. Their numbers grow with time, so that they are valid in other processes too. */
export class ThreadEvents {
  /** Events with a higher number than this are all in memory. */
  completeAfter: number;
  readonly #followers = new Set<Follower>();
  readonly #now: () => number;
  readonly #limit: () => number;
  #kept: LoggedEvent[] = [];
  #size = 0;
  #last: number;

  /** @param now milliseconds since the epoch. @param limit the current memory limit (characters). */
  constructor(now: () => number, limit = () => maxKept) {
    this.#now = now;
    this.#limit = limit;
    this.#last = idAt(now());
    this.completeAfter = this.#last;
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

  /** Subscribes to the kept events after `afterId` and new ones; without `afterId`, to new ones only. */
  follow(follower: Follower, afterId: number | undefined): () => void {
    if (afterId !== undefined) for (const event of this.#kept) if ((event.id ?? 0) > afterId) follower(event);
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  close(): void {
    for (const follower of this.#followers) follower(undefined);
    this.#followers.clear();
  }

  #trim(): void {
    while (this.#size > this.#limit()) {
      const dropped = this.#kept.shift();
      if (dropped === undefined) return;
      this.#size -= dropped.json.length;
      this.completeAfter = dropped.id ?? this.completeAfter;
    }
  }
}
