import { stackOf } from '../../../../kit/errors.ts';
import { pause, type Clock } from '../../../../kit/clock.ts';
import { metadataEvent } from '../../../../contract/agent/stream-event.ts';
import type { Logger } from '../../../../kit/logger.ts';
import { Refusal } from '../../refusal.ts';
import type { Follower, LoggedEvent } from '../../runs/event-log.ts';
import { retryWhileDatabaseDown } from '../../storage/retry-policy.ts';
import type { StoredEvent } from '../../runs/run-events.ts';
import { lifecycleEvent } from '../../runs/thread-event-stream.ts';
import { attemptOf, cursorOf, eventsOfChannels, reportsEnd, seqOf, threadEvent, type ThreadCursor } from './event.ts';
import type { StoredThreadEvent, ThreadEventStore } from './store.ts';
import type { Selection } from './subscriptions.ts';

/** The polling interval (ms) for the end of a run that is about to be stored. */
const endPollMs = 20;
/** The retry interval (ms) for a failed question whether the client may read. */
const retryMs = 1_000;

export interface ReaderDependencies {
  store: Pick<ThreadEventStore, 'after'>;
  clock: Clock;
  log: Logger;
  threadId: string;
  selection: Selection;
  /** Whether the client may read the thread, as it is now. */
  isAllowed: () => Promise<boolean>;
  follower: Follower;
  /** The order of the thread's runs, as far as it is known. */
  sequences: Map<string, number>;
  /** Called once the stream has ended by itself. */
  onEnd: () => void;
}

/** Reads the events of one thread for one client, in order and each once. */
export class ThreadReader {
  readonly #dependencies: ReaderDependencies;
  readonly #stop = new AbortController();
  /** The events whose data are read: those of the channels, and those that report an end. */
  readonly #names: string[];
  #cursor: ThreadCursor;
  /** The run for which the client was allowed to read; another one may be of a new thread with the same id. */
  #allowedFor: number | undefined;
  #reading = false;
  /** There may be more than the current reading finds. */
  #again = false;

  constructor(dependencies: ReaderDependencies) {
    this.#dependencies = dependencies;
    const { channels, since } = dependencies.selection;
    this.#names = [...new Set([lifecycleEvent, ...eventsOfChannels(channels)])];
    this.#cursor = since === undefined ? { sequence: -1, id: -1 } : cursorOf(since);
  }

  /** Takes events that follow directly on the last one; false if there may be others before them. */
  take(sequence: number, events: readonly StoredEvent[]): boolean {
    const isNext = this.#cursor.sequence === sequence && events[0]?.id === this.#cursor.id + 1;
    if (this.#reading || this.#allowedFor !== sequence || !isNext || events.some(reportsEnd)) return false;
    for (const event of events) this.#pass({ sequence, id: event.id }, event);
    return true;
  }

  /** Reads what is stored after the last event. */
  read(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    const { clock, log, threadId } = this.#dependencies;
    void retryWhileDatabaseDown(() => this.#readAll(), clock, this.#stop.signal)
      .catch((error: unknown) => {
        if (this.#stop.signal.aborted) return;
        if (error instanceof Refusal && error.status >= 500) return this.#readAgainAfter(retryMs);
        if (!(error instanceof Refusal))
          log.error({ threadId }, `The events of thread ${threadId} can't be read: ${stackOf(error)}`);
        this.end();
      })
      .finally(() => {
        this.#reading = false;
        // Asked for after the last page was read.
        if (this.#again) this.read();
      });
  }

  /** Stops reading, because the client is gone. */
  stop(): void {
    this.#stop.abort();
  }

  end(): void {
    if (this.#stop.signal.aborted) return;
    this.stop();
    this.#dependencies.follower(undefined);
    this.#dependencies.onEnd();
  }

  async #readAll(): Promise<void> {
    const { store, threadId, isAllowed } = this.#dependencies;
    let page: StoredThreadEvent[];
    do {
      this.#again = false;
      // Asked before reading, which costs more.
      if (this.#allowedFor === undefined && !(await isAllowed())) return;
      page = await store.after(threadId, this.#cursor, this.#names);
      for (const event of page) {
        if (this.#stop.signal.aborted) return;
        if (event.sequence !== this.#allowedFor) {
          this.#allowedFor = undefined;
          if (!(await isAllowed())) return;
          this.#allowedFor = event.sequence;
        }
        if (!this.#takeStored(event)) return this.#readAgainAfter(endPollMs);
      }
    } while ((this.#again || page.length > 0) && !this.#stop.signal.aborted);
  }

  /** Takes an event as stored; false for the end of a run that is not stored itself yet: a client would go on too early. */
  #takeStored({ runId, sequence, id, attempt, hasEnded, event, json }: StoredThreadEvent): boolean {
    this.#dependencies.sequences.set(runId, sequence);
    const isEnd = json !== null && reportsEnd({ event, json });
    // The process died before it could store this end: the next attempt has another one.
    const isSuperseded = isEnd && attemptOf({ id }) < attempt;
    if (isEnd && !isSuperseded && !hasEnded) return false;
    if (json === null || isSuperseded) this.#cursor = { sequence, id };
    else this.#pass({ sequence, id }, { event, json });
    return true;
  }

  #readAgainAfter(ms: number): void {
    void pause(this.#dependencies.clock, ms, this.#stop.signal).then(() => this.read());
  }

  #pass(cursor: ThreadCursor, logged: Pick<LoggedEvent, 'event' | 'json'>): void {
    this.#cursor = cursor;
    if (logged.event === metadataEvent || !this.#dependencies.selection.accept(logged, seqOf(cursor))) return;
    this.#dependencies.follower(threadEvent(cursor, logged));
  }
}
