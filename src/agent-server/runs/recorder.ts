import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../database/unavailable.ts';
import type { EventLog } from './event-log.ts';
import type { RunEvents, StoredEnding, StoredEvent } from './run-events.ts';

/** How long (ms) events gather before they are stored together. */
const GATHER_MS = 20;
/** How long (ms) until they are stored again, while the database is away. */
const RETRY_MS = 500;
/** The most that is stored at once, in events and in characters. */
const MOST_AT_ONCE = { events: 500, size: 4 * 1024 * 1024 };

/** What a recorder works with. */
export interface RecorderParts {
  runId: string;
  /** The number of its first event, where the log numbers none. */
  firstId: number;
  log: EventLog;
  events: RunEvents;
  clock: Clock;
  complain: (line: string) => void;
}

/** Stores the events of one run as they happen, some at a time, in their order. The run does not wait for it, but for its end. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #waiting: StoredEvent[] = [];
  readonly #ending = new AbortController();
  #next: number;
  #writing: Promise<void> | undefined;
  #broken = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#next = parts.firstId;
    parts.log.record(({ id, event, json }) => this.#add({ id: id ?? this.#next, event, json }));
  }

  /** Stores what is left, and how the run is about to end. */
  async end(ending: StoredEnding): Promise<void> {
    this.#ending.abort();
    await this.#writing;
    const { runId, events } = this.#parts;
    if (!this.#broken) await this.#again(() => events.write(runId, [], { id: this.#next, ...ending }));
  }

  #add(event: StoredEvent): void {
    if (this.#broken) return;
    this.#next = event.id + 1;
    this.#waiting.push(event);
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    const { runId, log, events, clock } = this.#parts;
    await pause(clock, GATHER_MS, this.#ending.signal);
    while (this.#waiting.length > 0 && !this.#broken) {
      const some = this.#waiting.splice(0, this.#fitting());
      await this.#again(() => events.write(runId, some));
      log.stored(some.at(-1)?.id ?? -1);
    }
    this.#writing = undefined;
  }

  /** How many of those that wait are stored together: at least one. */
  #fitting(): number {
    let size = 0;
    const end = this.#waiting.findIndex(({ json }, at) => {
      size += json.length;
      return at > 0 && (at >= MOST_AT_ONCE.events || size > MOST_AT_ONCE.size);
    });
    return end < 0 ? this.#waiting.length : end;
  }

  async #again(store: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await store();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          // The run goes on without: who follows it here hears its events all the same.
          this.#parts.complain(`The events of run ${this.#parts.runId} can't be stored: ${String(error)}`);
          this.#broken = true;
          return;
        }
        await this.#parts.clock.sleep(RETRY_MS);
      }
    }
  }
}
