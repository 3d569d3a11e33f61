import { pause, type Clock } from '../../../clock.ts';
import { metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { ThreadEventFilter } from '../../../contract/agent/thread-stream.ts';
import type { Logger } from '../../../logger.ts';
import type { Followable, Follower } from '../../runs/event-log.ts';
import { logFailure } from '../../runs/poll.ts';
import { retryWhileDatabaseDown } from '../../runs/retry-while-database-down.ts';
import type { StoredEvent } from '../../runs/run-events.ts';
import { attemptOf, cursorOf, matchesFilter, reportsEnd, threadEvent, type ThreadCursor } from './event.ts';
import type { ThreadEventStore } from './store.ts';

/** The polling interval (ms) for runs of other processes on followed threads. */
const pollMs = 500;
/** The polling interval (ms) for the end of a run that is about to be stored. */
const endPollMs = 20;

/** The followers of one thread, and the order of its runs as far as it is known. */
interface FollowedThread {
  readers: Set<ThreadReader>;
  sequences: Map<string, number>;
}

/**
 * Streams the events of threads. They are read from the database, where the run's process stores them, so every process
 * streams the same events under the same numbers, also those of former processes that are still kept.
 */
export class ThreadEventStreams {
  readonly #parts: { store: ThreadEventStore; clock: Clock; log: Logger };
  readonly #threads = new Map<string, FollowedThread>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;

  constructor(parts: { store: ThreadEventStore; clock: Clock; log: Logger }) {
    this.#parts = parts;
  }

  /**
   * The events of a thread, which need not exist yet. None is delivered before `isAllowed` has resolved to true; it is
   * asked again with every new event.
   */
  events(threadId: string, filter: ThreadEventFilter, isAllowed: () => Promise<boolean>): Followable {
    return { follow: (follower) => this.#follow(threadId, filter, isAllowed, follower) };
  }

  /** Delivers events that this process has just stored. */
  deliver(threadId: string, runId: string, events: readonly StoredEvent[]): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    const sequence = thread.sequences.get(runId);
    for (const reader of thread.readers) if (sequence === undefined || !reader.take(sequence, events)) reader.read();
  }

  /** Ends all streams. */
  async closeAll(): Promise<void> {
    this.#stop.abort();
    for (const { readers } of this.#threads.values()) for (const reader of readers) reader.end();
    await this.#polling;
  }

  #follow(
    threadId: string,
    filter: ThreadEventFilter,
    isAllowed: () => Promise<boolean>,
    follower: Follower,
  ): () => void {
    if (this.#stop.signal.aborted) {
      follower(undefined);
      return () => undefined;
    }
    const thread = this.#threads.get(threadId) ?? { readers: new Set(), sequences: new Map() };
    this.#threads.set(threadId, thread);
    const reader = new ThreadReader({ ...this.#parts, threadId, filter, isAllowed, follower, ...thread });
    thread.readers.add(reader);
    reader.read();
    this.#polling ??= this.#poll();
    return () => {
      reader.stop();
      thread.readers.delete(reader);
      if (thread.readers.size === 0 && this.#threads.get(threadId) === thread) this.#threads.delete(threadId);
    };
  }

  async #poll(): Promise<void> {
    const { store, clock, log } = this.#parts;
    while (this.#threads.size > 0 && !this.#stop.signal.aborted) {
      await pause(clock, pollMs, this.#stop.signal);
      const busy = await store
        .withRemoteRuns([...this.#threads.keys()])
        .catch(logFailure(log, 'Polling followed threads failed'));
      for (const id of busy ?? []) for (const reader of this.#threads.get(id)?.readers ?? []) reader.read();
    }
    this.#polling = undefined;
  }
}

interface ReaderParts {
  store: ThreadEventStore;
  clock: Clock;
  log: Logger;
  threadId: string;
  filter: ThreadEventFilter;
  isAllowed: () => Promise<boolean>;
  follower: Follower;
  sequences: Map<string, number>;
}

/** Reads the events of one thread for one client, in order and each once. */
class ThreadReader {
  readonly #parts: ReaderParts;
  readonly #stop = new AbortController();
  #cursor: ThreadCursor;
  #isAllowed = false;
  #reading = false;
  /** There may be more than the current reading finds. */
  #again = false;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#cursor = parts.filter.since === undefined ? { sequence: -1, id: -1 } : cursorOf(parts.filter.since);
  }

  /** Takes events that follow directly on the last one; false if there may be others before them. */
  take(sequence: number, events: readonly StoredEvent[]): boolean {
    const isNext = this.#cursor.sequence === sequence && events[0]?.id === this.#cursor.id + 1;
    if (this.#reading || !this.#isAllowed || !isNext || events.some(reportsEnd)) return false;
    for (const event of events) this.#pass({ sequence, ...event });
    return true;
  }

  /** Reads what is stored after the last event. */
  read(): void {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    const { clock, log, threadId } = this.#parts;
    void retryWhileDatabaseDown(() => this.#readAll(), clock, this.#stop.signal)
      .catch((error: unknown) => {
        if (this.#stop.signal.aborted) return;
        log.error({ threadId }, `The events of thread ${threadId} can't be read: ${String(error)}`);
        this.end();
      })
      .finally(() => {
        this.#reading = false;
        // Asked for after the last page was read.
        if (this.#again && !this.#stop.signal.aborted) this.read();
      });
  }

  /** Stops reading, because the client is gone. */
  stop(): void {
    this.#stop.abort();
  }

  /** Ends the stream of the client. */
  end(): void {
    if (this.#stop.signal.aborted) return;
    this.stop();
    this.#parts.follower(undefined);
  }

  async #readAll(): Promise<void> {
    const { store, threadId, sequences, isAllowed } = this.#parts;
    do {
      this.#again = false;
      const page = await store.after(threadId, this.#cursor);
      if (page.length > 0 && !this.#isAllowed) this.#isAllowed = await isAllowed();
      if (!this.#isAllowed) continue;
      for (const event of page) {
        if (this.#stop.signal.aborted) return;
        sequences.set(event.runId, event.sequence);
        const reported = reportsEnd(event);
        if (reported && attemptOf(event) < event.attempt) {
          // The process died before it could store this end: the next attempt has another one.
          this.#cursor = event;
          continue;
        }
        if (reported && !event.hasEnded) return this.#readAgainSoon();
        this.#pass(event);
      }
      this.#again ||= page.length > 0;
    } while (this.#again && !this.#stop.signal.aborted);
  }

  /** The end of a run is reported once it is stored, so that a client can go on from there. */
  #readAgainSoon(): void {
    const { clock } = this.#parts;
    void pause(clock, endPollMs, this.#stop.signal).then(() => this.read());
  }

  #pass({ sequence, id, event, json }: ThreadCursor & StoredEvent): void {
    this.#cursor = { sequence, id };
    if (event === metadataEvent || !matchesFilter(this.#parts.filter, { event, json })) return;
    this.#parts.follower(threadEvent(this.#cursor, { event, json }));
  }
}
