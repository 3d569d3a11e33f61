import { stackOf } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { ThreadStreamMode } from '../../../contract/agent/thread.ts';
import type { Followable, Follower } from '../runs/event-log.ts';
import type { Execution } from '../runs/execution.ts';
import type { StoredRun } from '../runs/run-row.ts';
import { logFailure } from '../storage/poll.ts';
import type { Runs } from '../runs/runs.ts';
import { retryWhileDatabaseDown } from '../storage/retry-policy.ts';
import type { Storage } from '../storage/open.ts';
import { toWire } from '../wire.ts';
import {
  followAfter,
  type FollowedThread,
  type Subscription,
  startOfRun,
  endOfRun,
  summaryOfRun,
  eventsOfEndedRuns,
} from './thread-run-events.ts';
import { existingThreads, recentRuns } from './thread-runs.ts';
import { isOfModes, maxKept, stateUpdateEvent, ThreadEvents, timeOf } from './thread-events.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface ThreadStreamsDependencies {
  runs: Runs;
  storage: Storage;
  /** The newest state of a thread in the API's form; undefined if there is no such thread. */
  stateOf: (threadId: string) => Promise<object | undefined>;
  clock: Clock;
  log: Logger;
}

/** The polling interval (ms) for changes by other processes on the followed threads. */
const pollMs = 500;
/** The maximum clock difference (ms) of two processes. */
const skewMs = 5000;
/** The memory limit (characters) of all threads' events together, for clients that reconnect. */
const maxKeptOfAll = 64 * 1024 * 1024;
/** How long (ms) the events of a thread are kept after the last follower disconnected, which may reconnect. */
const keepUnfollowedMs = 60_000;

/** The events of every run on a thread, and manual updates; those of other processes within a second. */
export class ThreadStreams {
  readonly #dependencies: ThreadStreamsDependencies;
  readonly #threads = new Map<string, FollowedThread>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;

  constructor(dependencies: ThreadStreamsDependencies) {
    this.#dependencies = dependencies;
    dependencies.runs.executor.onStarted = (execution) => this.#subscribe(execution);
  }

  /** The events on a thread. One that resumes gets missed ones kept here; of older runs, metadata and outcome. */
  events(threadId: string, modes: readonly ThreadStreamMode[]): Followable {
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
  reportUpdate(threadId: string, state: object, at: number): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    thread.updatedAt = at;
    thread.events.add(stateUpdateEvent, toWire({ thread_id: threadId, state }));
  }

  close(threadId: string): void {
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    this.#threads.delete(threadId);
    for (const { unsubscribe } of thread.runs.values()) unsubscribe();
    thread.events.close();
  }

  async closeAll(): Promise<void> {
    this.#stop.abort();
    for (const threadId of this.#threads.keys()) this.close(threadId);
    await this.#polling;
  }

  #follow(threadId: string, notify: Follower, afterId: number | undefined): () => void {
    if (this.#stop.signal.aborted) {
      notify(undefined);
      return () => undefined;
    }
    const isNew = !this.#threads.has(threadId);
    const thread = this.#open(threadId);
    thread.unfollowedAt = undefined;
    const { events } = thread;
    if (afterId !== undefined && afterId < events.completeAfter)
      return this.#followFromPast(threadId, thread, notify, afterId);
    if (!isNew && afterId === undefined) {
      for (const run of this.#dependencies.runs.executor.ofThread(threadId)) {
        if (!run.isWaiting)
          notify({ id: undefined, event: metadataEvent, json: startOfRun(run.plan.runId, run.attempt) });
      }
    }
    const unfollow = events.follow(notify, isNew ? events.completeAfter : afterId);
    return () => this.#unfollow(thread, unfollow);
  }

  #followFromPast(threadId: string, thread: FollowedThread, notify: Follower, afterId: number): () => void {
    const { clock, log, storage } = this.#dependencies;
    const { events } = thread;
    const when = { afterId, until: timeOf(events.completeAfter) };
    const past = retryWhileDatabaseDown(() => eventsOfEndedRuns(storage, threadId, when), clock, this.#stop.signal);
    const follow = (follower: Follower) => events.follow(follower, events.completeAfter);
    const unfollow = followAfter(past, follow, notify, (error) => {
      if (!this.#stop.signal.aborted)
        log.error({ threadId }, `The past events of thread ${threadId} can't be read: ${stackOf(error)}`);
    });
    return () => this.#unfollow(thread, unfollow);
  }

  #unfollow(thread: FollowedThread, unfollow: () => void): void {
    unfollow();
    if (!thread.events.isFollowed) thread.unfollowedAt = this.#dependencies.clock.now();
  }

  #open(threadId: string): FollowedThread {
    const known = this.#threads.get(threadId);
    if (known) return known;
    const { clock, runs } = this.#dependencies;
    const now = clock.now();
    const share = () => Math.min(maxKept, maxKeptOfAll / this.#threads.size);
    const events = new ThreadEvents(() => clock.now(), share);
    const thread: FollowedThread = { events, openedAt: now, unfollowedAt: undefined, runs: new Map(), updatedAt: now };
    this.#threads.set(threadId, thread);
    for (const execution of runs.executor.ofThread(threadId)) this.#subscribe(execution);
    this.#polling ??= this.#pollWhileFollowed();
    return thread;
  }

  /** Subscribes to a run of this process. One that waits for its turn is reported when it starts. */
  #subscribe(execution: Execution): void {
    const { threadId, runId } = execution.plan;
    const thread = this.#threads.get(threadId);
    if (!thread) return;
    thread.runs.get(runId)?.unsubscribe();
    const subscription: Subscription = { unsubscribe: () => undefined };
    thread.runs.set(runId, subscription);
    const notify = this.#follower(thread, runId, subscription, execution);
    const reportStart = () => {
      subscription.reportStart = undefined;
      notify({ id: undefined, event: metadataEvent, json: startOfRun(runId, execution.attempt) });
    };
    if (execution.isWaiting) subscription.reportStart = reportStart;
    subscription.unsubscribe = execution.events.tap((event) => {
      if (subscription.reportStart && (execution.continuesElsewhere || event?.event === metadataEvent)) return;
      subscription.reportStart?.();
      notify(event);
    });
  }

  /** Forwards a run's events and its end to its thread; a run that continues in another process has no end here. */
  #follower(thread: FollowedThread, runId: string, subscription: Subscription, execution?: Execution): Follower {
    return (event) => {
      if (execution?.continuesElsewhere) {
        // Another process executes the run from now on.
        if (event === undefined && thread.runs.get(runId) === subscription) thread.runs.delete(runId);
        return;
      }
      if (event !== undefined) return thread.events.add(event.event, event.json);
      if (this.#dependencies.runs.hasClosed) return;
      subscription.endedAt = this.#dependencies.clock.now();
      thread.updatedAt = subscription.endedAt;
      thread.events.add(metadataEvent, endOfRun(runId));
    };
  }

  async #pollWhileFollowed(): Promise<void> {
    const { clock, log } = this.#dependencies;
    const { signal } = this.#stop;
    let since = clock.now() - skewMs;
    while (!signal.aborted && this.#threads.size > 0) {
      const before = clock.now();
      const hasRead = await this.#poll(since).then(() => true, logFailure(log, 'Polling followed threads failed'));
      if (hasRead === true) since = before - skewMs;
      await pause(clock, pollMs, signal);
    }
    this.#polling = undefined;
  }

  async #poll(since: number): Promise<void> {
    const { storage } = this.#dependencies;
    for (const [threadId, thread] of this.#threads) this.#expire(threadId, thread, since);
    const ids = [...this.#threads.keys()];
    if (ids.length === 0) return;
    const existing = new Map((await existingThreads(storage, ids)).map((thread) => [thread.thread_id, thread]));
    const known = ids.flatMap((id) => [...(this.#threads.get(id)?.runs.keys() ?? [])]);
    for (const run of await recentRuns(storage, ids, since, known)) this.#subscribeToRemote(run);
    for (const id of ids) {
      const thread = existing.get(id);
      if (!thread) this.close(id);
      else if (thread.written_at) await this.#emitState(id, thread.written_at.getTime());
    }
  }

  /** Reports runs whose turn has come, forgets those that ended long ago, and closes a thread that nobody follows. */
  #expire(threadId: string, { unfollowedAt, runs }: FollowedThread, since: number): void {
    if (unfollowedAt !== undefined && this.#dependencies.clock.now() - unfollowedAt > keepUnfollowedMs)
      this.close(threadId);
    for (const [runId, { reportStart, endedAt }] of runs) {
      if (reportStart && this.#dependencies.runs.executor.find(runId)?.isWaiting === false) reportStart();
      if (endedAt !== undefined && endedAt < since - skewMs) runs.delete(runId);
    }
  }

  #subscribeToRemote(run: StoredRun): void {
    const thread = this.#threads.get(run.thread_id);
    if (!thread || thread.runs.has(run.run_id)) return;
    const { events } = thread;
    const subscription: Subscription = { unsubscribe: () => undefined };
    thread.runs.set(run.run_id, subscription);
    if (run.ended_at === null) {
      subscription.unsubscribe = this.#dependencies.runs.following
        .events(run)
        .follow(this.#follower(thread, run.run_id, subscription));
      return;
    }
    subscription.endedAt = run.ended_at.getTime();
    if (subscription.endedAt >= thread.openedAt)
      for (const { event, json } of summaryOfRun(run)) events.add(event, json);
  }

  async #emitState(threadId: string, updatedAt: number): Promise<void> {
    const thread = this.#threads.get(threadId);
    if (!thread || updatedAt <= thread.updatedAt) return;
    // Set before reading, so that an unreadable state is logged once.
    thread.updatedAt = updatedAt;
    const state = await this.#dependencies.stateOf(threadId);
    if (state !== undefined) this.reportUpdate(threadId, state, updatedAt);
  }
}
