import { pause, type Clock } from '../../../../kit/clock.ts';
import type { Logger } from '../../../../kit/logger.ts';
import type { Followable, Follower } from '../../runs/event-log.ts';
import { logFailure } from '../../storage/poll.ts';
import type { StoredEvent } from '../../runs/run-events.ts';
import type { ThreadEventStore } from './store.ts';
import type { Selection } from './subscriptions.ts';
import { ThreadReader } from './thread-reader.ts';

/** The polling interval (ms) for runs of other processes on followed threads. */
const pollMs = 500;
/** The maximum clock difference (ms) of two processes, twice: the end of a run has the time of its process. */
const skewMs = 10_000;

/** The followers of one thread, and the order of its runs as far as it is known. */
interface FollowedThread {
  readers: Set<ThreadReader>;
  sequences: Map<string, number>;
}

/**
 * Streams the events of threads. They are read from the database, where the run's process stores them, so every process
 * streams the same events under the same numbers, also those of earlier processes that are still kept.
 */
export class ThreadEventStreams {
  readonly #dependencies: { store: ThreadEventStore; clock: Clock; log: Logger };
  readonly #threads = new Map<string, FollowedThread>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;

  constructor(parts: { store: ThreadEventStore; clock: Clock; log: Logger }) {
    this.#dependencies = parts;
  }

  /** The events of a thread, which need not exist yet. `isAllowed` is asked before the events of each run. */
  events(threadId: string, selection: Selection, isAllowed: () => Promise<boolean>): Followable {
    return { follow: (follower) => this.#follow(threadId, selection, isAllowed, follower) };
  }

  /** Delivers events that this process has just stored; without any it reads what is stored. */
  deliver(threadId: string, runId: string, events: readonly StoredEvent[]): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    const sequence = thread.sequences.get(runId);
    for (const reader of thread.readers) if (sequence === undefined || !reader.take(sequence, events)) reader.read();
  }

  close(threadId: string): void {
    for (const reader of this.#threads.get(threadId)?.readers ?? []) reader.end();
  }

  async closeAll(): Promise<void> {
    this.#stop.abort();
    for (const threadId of this.#threads.keys()) this.close(threadId);
    await this.#polling;
  }

  #follow(threadId: string, selection: Selection, isAllowed: () => Promise<boolean>, follower: Follower): () => void {
    if (this.#stop.signal.aborted) {
      follower(undefined);
      return () => undefined;
    }
    const thread = this.#threads.get(threadId) ?? { readers: new Set(), sequences: new Map() };
    this.#threads.set(threadId, thread);
    const leave = () => {
      thread.readers.delete(reader);
      if (thread.readers.size === 0 && this.#threads.get(threadId) === thread) this.#threads.delete(threadId);
    };
    const { sequences } = thread;
    const reader = new ThreadReader({
      ...this.#dependencies,
      threadId,
      selection,
      isAllowed,
      follower,
      sequences,
      onEnd: leave,
    });
    thread.readers.add(reader);
    reader.read();
    this.#polling ??= this.#poll();
    return () => {
      reader.stop();
      leave();
    };
  }

  async #poll(): Promise<void> {
    const { store, clock, log } = this.#dependencies;
    let since = clock.now() - skewMs;
    while (this.#threads.size > 0 && !this.#stop.signal.aborted) {
      await pause(clock, pollMs, this.#stop.signal);
      const before = clock.now();
      const withNews = await store
        .withNews([...this.#threads.keys()], since)
        .catch(logFailure(log, 'Polling followed threads failed'));
      if (!withNews) continue;
      since = before - skewMs;
      for (const id of withNews) for (const reader of this.#threads.get(id)?.readers ?? []) reader.read();
    }
    this.#polling = undefined;
  }
}
