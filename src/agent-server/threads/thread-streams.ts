import { pause, type Clock } from '../../clock.ts';
import { metadataEvent } from '../../contract/agent/stream-event.ts';
import type { ThreadStreamMode } from '../../contract/agent/thread.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Followable, Follower } from '../runs/event-buffer.ts';
import type { Execution } from '../runs/execution.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import { retryWhileDatabaseDown } from '../runs/retry-while-database-down.ts';
import { toWire } from '../wire.ts';
import {
  afterPast,
  type Followed,
  type Subscription,
  startOfRun,
  endOf,
  eventsLeft,
  pastOf,
} from './thread-run-events.ts';
import type { ThreadRuns } from './thread-runs.ts';
import { isOfModes, mostKept, stateUpdateEvent, ThreadEvents, timeOf } from './thread-events.ts';
import type { Logger } from '../../logger.ts';

/** The dependencies of `ThreadStreams`. */
export interface ThreadStreamsParts {
  runs: Runs;
  threadRuns: ThreadRuns;
  /** The newest state of a thread in the API's form; undefined if there is no such thread. */
  stateOf: (threadId: string) => Promise<object | undefined>;
  clock: Clock;
  log: Logger;
}

/** The polling interval (ms) for changes by other processes on the followed threads. */
const lookMs = 500;
/** The maximum clock difference (ms) of two processes. */
const skewMs = 5000;
/** The memory limit (characters) of all threads' events together, for clients that reconnect. */
const keptOfAll = 64 * 1024 * 1024;
/** How long (ms) the events of a thread are kept after the last follower disconnected, which may reconnect. */
const lingerMs = 60_000;

/**
 * The events on threads: those of every run, and manual updates. Runs of this process are reported at once, those of
 * other processes within a second.
 */
export class ThreadStreams {
  readonly #parts: ThreadStreamsParts;
  readonly #threads = new Map<string, Followed>();
  readonly #stop = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(parts: ThreadStreamsParts) {
    this.#parts = parts;
    parts.runs.onStarted((execution) => this.#started(execution));
  }

  /**
   * The events on a thread. A follower that resumes after a number receives the missed events that are kept here; for runs
   * that ended before those, their metadata and outcome.
   */
  of(threadId: string, modes: readonly ThreadStreamMode[]): Followable {
    return {
      follow: (follower, afterId) => {
        const notify: Follower = (event) => {
          if (event === undefined || isOfModes(event.event, modes)) follower(event);
        };
        return this.#follow(threadId, notify, afterId);
      },
    };
  }

  /** Reports a manual update in this process at that time (ms). */
  written(threadId: string, state: object, at: number): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    thread.writtenAt = at;
    thread.events.add(stateUpdateEvent, toWire({ thread_id: threadId, state }));
  }

  /** Ends the stream of a deleted thread. */
  gone(threadId: string): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    this.#threads.delete(threadId);
    for (const { forget } of thread.runs.values()) forget();
    thread.events.close();
  }

  /** Disconnects all followers. */
  async end(): Promise<void> {
    this.#stop.abort();
    for (const threadId of this.#threads.keys()) this.gone(threadId);
    await this.#looking;
  }

  #follow(threadId: string, notify: Follower, afterId: number | undefined): () => void {
    if (this.#stop.signal.aborted) {
      notify(undefined);
      return () => undefined;
    }
    const isNew = !this.#threads.has(threadId);
    const thread = this.#open(threadId);
    thread.leftAt = undefined;
    const { events } = thread;
    if (afterId !== undefined && afterId < events.complete)
      return this.#followFromPast(threadId, thread, notify, afterId);
    if (!isNew && afterId === undefined) {
      for (const run of this.#parts.runs.ofThread(threadId)) {
        if (!run.isWaiting)
          notify({ id: undefined, event: metadataEvent, json: startOfRun(run.plan.runId, run.attempt) });
      }
    }
    const leave = events.follow(notify, isNew ? events.complete : afterId);
    return () => this.#leave(thread, leave);
  }

  #followFromPast(threadId: string, thread: Followed, notify: Follower, afterId: number): () => void {
    const { clock, log, threadRuns } = this.#parts;
    const { events } = thread;
    const when = { afterId, until: timeOf(events.complete) };
    const past = retryWhileDatabaseDown(() => pastOf(threadRuns, threadId, when), clock, this.#stop.signal);
    const follow = (follower: Follower) => events.follow(follower, events.complete);
    const leave = afterPast(past, follow, notify, (error) => {
      if (!this.#stop.signal.aborted)
        log.error({ threadId }, `The past events of thread ${threadId} can't be read: ${String(error)}`);
    });
    return () => this.#leave(thread, leave);
  }

  #leave(thread: Followed, leave: () => void): void {
    leave();
    if (!thread.events.isFollowed) thread.leftAt = this.#parts.clock.now();
  }

  #open(threadId: string): Followed {
    const known = this.#threads.get(threadId);
    if (known) return known;
    const { clock, runs } = this.#parts;
    const now = clock.now();
    const share = () => Math.min(mostKept, keptOfAll / this.#threads.size);
    const events = new ThreadEvents(() => clock.now(), share);
    const thread: Followed = { events, openedAt: now, leftAt: undefined, runs: new Map(), writtenAt: now };
    this.#threads.set(threadId, thread);
    for (const execution of runs.ofThread(threadId)) this.#started(execution);
    this.#looking ??= this.#keepLooking();
    return thread;
  }

  /** Subscribes to a run of this process. One that waits for its turn is reported when it starts. */
  #started(execution: Execution): void {
    const { threadId, runId } = execution.plan;
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    thread.runs.get(runId)?.forget();
    const reported: Subscription = { forget: () => undefined };
    thread.runs.set(runId, reported);
    const notify = this.#follower(thread, runId, reported, execution);
    const begin = () => {
      reported.begin = undefined;
      notify({ id: undefined, event: metadataEvent, json: startOfRun(runId, execution.attempt) });
    };
    if (execution.isWaiting) reported.begin = begin;
    reported.forget = execution.events.tap((event) => {
      if (reported.begin && (execution.goesOn || event?.event === metadataEvent)) return;
      reported.begin?.();
      notify(event);
    });
  }

  /** Forwards a run's events and its end to its thread; a run that continues in another process has no end here. */
  #follower(thread: Followed, runId: string, reported: Subscription, execution?: Execution): Follower {
    return (event) => {
      if (execution?.goesOn) {
        // Another process executes the run from now on.
        if (event === undefined && thread.runs.get(runId) === reported) thread.runs.delete(runId);
        return;
      }
      if (event !== undefined) return thread.events.add(event.event, event.json);
      if (this.#parts.runs.hasClosed) return;
      reported.endedAt = this.#parts.clock.now();
      thread.writtenAt = reported.endedAt;
      thread.events.add(metadataEvent, endOf(runId));
    };
  }

  async #keepLooking(): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#stop;
    let since = clock.now() - skewMs;
    while (!signal.aborted && this.#threads.size > 0) {
      const before = clock.now();
      try {
        await this.#look(since);
        since = before - skewMs;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) log.error(`Polling followed threads failed: ${String(error)}`);
      }
      await pause(clock, lookMs, signal);
    }
    this.#looking = undefined;
  }

  async #look(since: number): Promise<void> {
    const { threadRuns } = this.#parts;
    for (const [threadId, thread] of this.#threads) this.#tidy(threadId, thread, since);
    const ids = [...this.#threads.keys()];
    if (ids.length === 0) return;
    const standing = new Map((await threadRuns.standing(ids)).map((thread) => [thread.thread_id, thread]));
    const known = ids.flatMap((id) => [...(this.#threads.get(id)?.runs.keys() ?? [])]);
    for (const run of await threadRuns.recent(ids, since, known)) this.#followRun(run);
    for (const id of ids) {
      const thread = standing.get(id);
      if (!thread) this.gone(id);
      else if (thread.written_at) await this.#emitState(id, thread.written_at.getTime());
    }
  }

  /** Reports started runs, and drops those that ended long ago. */
  #tidy(threadId: string, { leftAt, runs }: Followed, since: number): void {
    if (leftAt !== undefined && this.#parts.clock.now() - leftAt > lingerMs) this.gone(threadId);
    for (const [runId, { begin, endedAt }] of runs) {
      if (begin && this.#parts.runs.find(runId)?.isWaiting === false) begin();
      if (endedAt !== undefined && endedAt < since - skewMs) runs.delete(runId);
    }
  }

  /** Follows a run of another process. */
  #followRun(run: StoredRun): void {
    const thread = this.#threads.get(run.thread_id);
    if (!thread || thread.runs.has(run.run_id)) return;
    const { events } = thread;
    const reported: Subscription = { forget: () => undefined };
    thread.runs.set(run.run_id, reported);
    if (run.ended_at === null) {
      reported.forget = this.#parts.runs.following.events(run).follow(this.#follower(thread, run.run_id, reported));
      return;
    }
    reported.endedAt = run.ended_at.getTime();
    if (reported.endedAt >= thread.openedAt) for (const { event, json } of eventsLeft(run)) events.add(event, json);
  }

  async #emitState(threadId: string, writtenAt: number): Promise<void> {
    const thread = this.#threads.get(threadId);
    if (!thread || writtenAt <= thread.writtenAt) return;
    // Set before reading, so that an unreadable state is logged once.
    thread.writtenAt = writtenAt;
    const state = await this.#parts.stateOf(threadId);
    if (state !== undefined) this.written(threadId, state, writtenAt);
  }
}
