import { stackOf } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { retryWhileDatabaseDown } from '../storage/retry-policy.ts';
import { maxStored, type EventLog } from './event-log.ts';
import { droppedEvent, type RunEvents, type StoredEnding, type StoredEvent } from './run-events.ts';
import type { Logger } from '../../../kit/logger.ts';

/** How long (ms) events are collected before they are stored together. */
const gatherMs = 20;
/** The most that is stored at once, in events and in characters. */
const maxAtOnce = { events: 500, size: 4 * 1024 * 1024 };

export interface RecorderDependencies {
  runId: string;
  /** The number of its first event, if the log does not number them. */
  firstId: number;
  log: EventLog;
  events: Pick<RunEvents, 'write' | 'drop'>;
  /** Stores the states that the run has reached, before the events that tell of them. */
  flush: () => Promise<void>;
  clock: Clock;
  complain: Logger;
  /** The storage limit (characters). */
  max?: number;
}

/** Stores the events of a run in batches, of a long run only the latest. The run waits for it only at its end. */
export class Recorder {
  readonly #dependencies: RecorderDependencies;
  readonly #waiting: StoredEvent[] = [];
  #waitingSize = 0;
  readonly #ending = new AbortController();
  /** The stored batches: last number and size (characters). */
  readonly #stored: { upTo: number; size: number }[] = [];
  #storedSize = 0;
  #next: number;
  #writing: Promise<void> | undefined;
  #broken = false;

  constructor(dependencies: RecorderDependencies) {
    this.#dependencies = dependencies;
    this.#next = dependencies.firstId;
    dependencies.log.record(({ id, event, json }) => this.#add({ id: id ?? this.#next, event, json }));
  }

  /** Stores the remaining events, and the outcome of the run. */
  async end(ending: StoredEnding): Promise<void> {
    this.#ending.abort();
    await this.#writing;
    const { runId, events } = this.#dependencies;
    if (!this.#broken) await this.#again(() => events.write(runId, [], { id: this.#next, ...ending }));
  }

  #add(event: StoredEvent): void {
    if (this.#broken) return;
    this.#next = event.id + 1;
    this.#waiting.push(event);
    this.#waitingSize += event.json.length;
    this.#passOver();
    this.#writing ??= this.#write();
  }

  /** If the database is far behind, drops the oldest waiting events: a quarter at once, to move the others rarely. */
  #passOver(): void {
    const { runId, firstId, max = maxStored } = this.#dependencies;
    if (this.#waitingSize <= max) return;
    let size = this.#waitingSize;
    const rest = this.#waiting.findIndex(({ json }) => (size -= json.length) <= max * 0.75);
    const gone = this.#waiting.splice(0, Math.min(rest + 1, this.#waiting.length - 1));
    const last = gone.at(-1);
    if (last === undefined) return;
    const reported = droppedEvent(runId, { from: firstId, upTo: last.id });
    this.#waiting.unshift(reported);
    this.#waitingSize += reported.json.length - sizeOf(gone);
  }

  async #write(): Promise<void> {
    const { runId, log, events, clock, flush } = this.#dependencies;
    await pause(clock, gatherMs, this.#ending.signal);
    while (this.#waiting.length > 0 && !this.#broken) {
      const some = this.#waiting.splice(0, this.#batchSize());
      this.#waitingSize -= sizeOf(some);
      await flush();
      await this.#again(() => events.write(runId, some));
      log.stored(some.at(-1)?.id ?? -1);
      await this.#dropOldest(some);
    }
    this.#writing = undefined;
  }

  async #dropOldest(added: readonly StoredEvent[]): Promise<void> {
    const { runId, firstId, events, max = maxStored } = this.#dependencies;
    const size = sizeOf(added);
    this.#stored.push({ upTo: added.at(-1)?.id ?? firstId, size });
    this.#storedSize += size;
    let upTo: number | undefined;
    while (this.#storedSize > max && this.#stored.length > 1) {
      const oldest = this.#stored.shift();
      this.#storedSize -= oldest?.size ?? 0;
      upTo = oldest?.upTo;
    }
    if (upTo !== undefined) {
      const gone = { from: firstId, upTo };
      await this.#again(() => events.drop(runId, gone));
    }
  }

  #batchSize(): number {
    let size = 0;
    const end = this.#waiting.findIndex(({ json }, at) => {
      size += json.length;
      return at > 0 && (at >= maxAtOnce.events || size > maxAtOnce.size);
    });
    return end < 0 ? this.#waiting.length : end;
  }

  async #again(store: () => Promise<void>): Promise<void> {
    const { runId, clock, complain } = this.#dependencies;
    try {
      await retryWhileDatabaseDown(store, clock);
    } catch (error) {
      // The run continues: its followers in this process still receive its events.
      complain.error({ runId }, `The events of run ${runId} can't be stored: ${stackOf(error)}`);
      this.#broken = true;
    }
  }
}

const sizeOf = (events: readonly StoredEvent[]): number => events.reduce((sum, { json }) => sum + json.length, 0);
