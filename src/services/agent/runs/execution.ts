import { unlessAborted } from '../../../kit/clock.ts';
import { stackOf } from '../../../kit/errors.ts';
import { errorKey } from '../../../contract/agent/run.ts';
import { errorEvent, metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { LifecycleStatus } from '../../../contract/agent/thread-stream.ts';
import { inAgentContext } from '../graphs/javascript/agent-globals.ts';
import { userIn } from '../auth/caller.ts';
import { type Graph, GraphFactoryError, createsRun } from '../graphs/graph.ts';
import { RunOwnershipLost, withRetries, retryWhileDatabaseDown } from '../storage/retry-policy.ts';
import { despiteDeaths } from '../graphs/python/run-workers.ts';
import { runEngine } from './engine-run.ts';
import { lifecycleAfter, lifecycleEvent, runEngineForThread, runLifecycle } from './thread-event-stream.ts';
import { attemptIds, EventLog } from './event-log.ts';
import { StepRecorder } from '../tracing/step-recorder.ts';
import { Recorder } from './recorder.ts';
import { Result } from './result.ts';
import { describeError, RunStopped, statusOf, type StopReason } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';
import { unreadableError, recordEnd } from './record-end.ts';
import type { RunStart, RunDependencies } from './dependencies.ts';
import { beginAttempt } from './attempt-start.ts';
import { stateAfter } from './open-tasks.ts';
import { waitForTurn } from './wait-for-turn.ts';

function errorForLog(failure: unknown): string {
  return (failure instanceof Error ? stackOf(failure) : describeError(failure).message).slice(0, 8000);
}

const thrownBy = (error: unknown): unknown =>
  (error instanceof GraphFactoryError ? error.cause : error) ?? new Error('The graph threw nothing.');

const isTaken = (failure: unknown): boolean => failure instanceof RunStopped && failure.reason === 'taken';

/** Whether another process continues the run; callers waiting here are released. */
const isReleased = (failure: unknown): failure is RunStopped =>
  failure instanceof RunStopped && failure.reason === 'released';

/** One run in this process, from its acceptance to its stored end. */
export class Execution {
  readonly plan: RunPlan;
  readonly attempt: number;
  readonly events: EventLog;
  /** It has not started yet: another process may take it. */
  isWaiting: boolean;
  isDelayed: boolean;
  /** This process has released the unfinished run, or no longer follows it: its end is not known here. */
  continuesElsewhere = false;
  /** The response (JSON) for a waiting caller, once the end is stored. Rejects with `RunStopped` at a shutdown. */
  readonly ended: Promise<string>;
  readonly #dependencies: RunDependencies;
  readonly #stop = new AbortController();
  readonly #result: Result;
  /** Absent if runs are not exported. */
  readonly #steps: StepRecorder | undefined;
  #recorder: Recorder | undefined;
  /** Ends following the run; set while another process executes it. */
  #following: AbortController | undefined;
  #hasStarted = false;
  #isRecorded: boolean;
  /** The response for a waiting caller if the run succeeds. */
  #answer = 'null';

  constructor(plan: RunPlan, dependencies: RunDependencies, start: RunStart) {
    this.plan = plan;
    this.attempt = start.attempt;
    const retention = plan.resumable ? 'all' : start.followed ? 'until-followed' : 'none';
    this.events = new EventLog(retention, this.#firstId);
    this.#dependencies = dependencies;
    this.#result = new Result(plan.runId, dependencies.log);
    const { traced, clock } = dependencies;
    this.#steps = traced && new StepRecorder(traced, () => clock.now());
    this.isWaiting = !start.started;
    this.isDelayed = plan.delayMs > 0;
    this.#isRecorded = plan.resumable;
    // Closes the log in any case, so that no follower waits forever.
    this.ended = this.#execute(start).finally(() => this.events.close());
  }

  /** Another process executes it; this one only follows it. */
  get isRemote(): boolean {
    return isTaken(this.#stop.signal.reason) || this.#following !== undefined;
  }

  /** Stops the run, or only following it if another process has it. The first reason counts. */
  stop(reason: StopReason, message?: string): void {
    if (!this.#following) this.#stop.abort(new RunStopped(reason, message));
    // A poll that was already under way may report `taken` again.
    else if (reason !== 'taken') this.#following.abort(new RunStopped(reason));
  }

  /** Stores the run's events, from now on or from its start, for followers in other processes. */
  record(): void {
    this.#isRecorded = true;
    if (this.isWaiting || this.#recorder) return;
    const { events, clock, log: complain, graphs } = this.#dependencies;
    const { runId } = this.plan;
    const flush = () => graphs.writes.flush(runId).catch(() => undefined);
    this.#recorder = new Recorder({ runId, firstId: this.#firstId, log: this.events, events, flush, clock, complain });
  }

  get #firstId(): number {
    return (this.attempt - 1) * attemptIds;
  }

  async #execute(start: RunStart): Promise<string> {
    const { runId } = this.plan;
    const { graphs, slots, clock, log } = this.#dependencies;
    this.events.add(metadataEvent, JSON.stringify({ run_id: runId, attempt: this.attempt }));
    let graph: Graph | undefined;
    let failure: unknown;
    const over = new AbortController();
    try {
      const enqueue = (place: number) => {
        this.isDelayed = false;
        return start.enqueue(place);
      };
      await waitForTurn(this.plan, { ...start, enqueue }, this.#dependencies, this.#stop.signal);
      this.isWaiting = false;
      this.#hasStarted = true;
      if (this.#isRecorded) this.record();
      this.#reportLifecycle('running');
      this.#limit(over.signal);
      try {
        const { threadId, metadata } = this.plan;
        const context = {
          runId,
          threadId,
          user: this.#dependencies.access && userIn(this.plan.kwargs.config.configurable),
        };
        const isSync = this.plan.kwargs.durability === 'sync';
        graphs.writes.beginRun({ runId, threadId, metadata, isSync });
        const made = (graph = await inAgentContext(context, () => this.#makeGraph()));
        const { signal } = this.#stop;
        const run = () => despiteDeaths((attempt) => this.#run(made, attempt), this, { log, signal });
        await withRetries({ clock, signal }, () => inAgentContext(context, run));
      } finally {
        over.abort();
        slots.release();
      }
    } catch (error) {
      // An error of the graph is the result of its run, not a failure of the server.
      failure = this.#stop.signal.aborted ? this.#stop.signal.reason : thrownBy(error);
    }
    this.isWaiting = false;
    const end = isTaken(failure) ? 'taken' : await this.#end(failure, graph);
    graphs.writes.endRun(this.plan);
    if (this.plan.temporary) await graphs.deleteCheckpoints(this.plan.graphId, this.plan.threadId);
    if (end === 'taken') return this.#followRemote();
    this.continuesElsewhere = isReleased(failure);
    if (end.error) this.events.add(errorEvent, JSON.stringify(end.error));
    if (isReleased(failure)) throw failure;
    return end.error ? JSON.stringify({ [errorKey]: end.error }) : this.#answer;
  }

  /** Reports the status of the run itself to followers of its thread. */
  #reportLifecycle(status: LifecycleStatus, error?: string): void {
    const { kwargs, graphId } = this.plan;
    if (!kwargs.thread_stream) return;
    // A run that ends before its turn has not been recorded yet.
    this.record();
    const params = runLifecycle(status, graphId, { at: this.#dependencies.clock.now(), error });
    this.events.add(lifecycleEvent, JSON.stringify(params));
  }

  #limit(over: AbortSignal): void {
    const { limitMs, clock } = this.#dependencies;
    if (limitMs === undefined) return;
    const limit = `${limitMs / 1000} seconds, the most that a run may take on this server`;
    clock.sleep(limitMs, over).then(
      () =>
        this.stop(
          'timed-out',
          `The run took longer than ${limit} (BG_JOB_TIMEOUT_SECS, or LANDFALL_RUN_TIMEOUT_SECONDS for a server started by hand).`,
        ),
      () => undefined,
    );
  }

  async #end(failure: unknown, graph: Graph | undefined): Promise<RunEnd | 'taken'> {
    const end = await this.#endOf(failure, graph).catch((mistake: unknown): RunEnd => {
      // Even inspecting an error of the agent may throw; the run has ended anyway.
      this.#dependencies.log.error(
        { runId: this.plan.runId },
        `The outcome of run ${this.plan.runId} can't be determined: ${describeError(mistake).message}`,
      );
      return unreadableError;
    });
    const { error } = end;
    if (!isReleased(failure)) {
      const hasInterrupts = this.#result.reached.waitsFor !== undefined;
      this.#reportLifecycle(lifecycleAfter(end.status, hasInterrupts), error?.message);
    }
    // Stored before the run's end, so that processes that see the end find all events.
    await this.#recorder?.end(
      error ? { kind: 'error', json: JSON.stringify(error) } : { kind: 'values', json: this.#answer },
    );
    const ended = { plan: this.plan, end: { ...end, usage: this.#result.usage(), trace: this.#trace() }, failure };
    const { writes } = this.#dependencies.graphs;
    if (failure !== undefined) return writes.without(this.plan.runId, () => recordEnd(ended, this.#dependencies));
    return writes.behind.finish(this.plan.runId, (unstored) => recordEnd(ended, this.#dependencies, unstored));
  }

  /** Input, output and steps for the tracing project. */
  #trace(): string | undefined {
    const { input, command } = this.plan.kwargs;
    return this.#steps?.describe(command ?? input ?? null, this.#result.output());
  }

  async #followRemote(): Promise<string> {
    const { runId, resumable } = this.plan;
    // Events of this process belong to this attempt, those of the other process to the next one.
    const after = this.#firstId + (this.#hasStarted ? attemptIds : 0) - 1;
    const run = { runId, resumable, attempt: this.attempt, after };
    const own = JSON.stringify({ run_id: runId, attempt: this.attempt });
    this.#following = new AbortController();
    const { promise: logged, resolve } = Promise.withResolvers<void>();
    const unfollow = this.#dependencies.remoteRuns.events(run).follow((event) => {
      if (event === undefined) resolve();
      else if (event.json !== own) this.events.addNumbered(event);
    });
    try {
      const { remoteRuns, clock } = this.#dependencies;
      const answer = retryWhileDatabaseDown(() => remoteRuns.ended(run), clock, this.#following.signal);
      return (await unlessAborted(Promise.all([answer, logged]), this.#following.signal))[0];
    } finally {
      this.continuesElsewhere = this.#following.signal.aborted;
      unfollow();
    }
  }

  #makeGraph(): Promise<Graph> {
    const { graphId, kwargs, temporary } = this.plan;
    return this.#dependencies.graphs.make(
      graphId,
      { configurable: kwargs.config.configurable, runtime: createsRun(kwargs.context) },
      temporary ? 'nothing' : 'thread',
    );
  }

  async #run(graph: Graph, attempt: number): Promise<void> {
    const { input, kwargs } = await beginAttempt(this.plan, attempt, graph, this.#dependencies);
    const observed = this.#steps?.attach(graph) ?? { graph };
    const engine = kwargs.thread_stream ? runEngineForThread : runEngine;
    const { writes } = this.#dependencies.graphs;
    const running = engine(
      observed.graph,
      input,
      { ...this.plan, kwargs, callbacks: observed.callbacks },
      {
        attempt,
        signal: this.#stop.signal,
        reached: this.#result.reached,
        emit: (event, data) => {
          if (this.events.isHeard) this.events.add(event, this.#result.serialize(event, data));
        },
      },
    );
    // Those of a run that failed are stored before its end; the last ones of others together with it.
    await running.catch(async (error: unknown) => {
      await writes.flush(this.plan.runId).catch(() => undefined);
      throw error;
    });
    // Recorded events tell of its end before it is stored.
    await (this.#recorder ? writes.flush(this.plan.runId) : writes.settle(this.plan.runId));
    // Serialized here, because a state that JSON can't represent fails the run.
    this.#answer = this.#result.answer();
  }

  async #endOf(failure: unknown, graph: Graph | undefined): Promise<RunEnd> {
    const stopped = failure instanceof RunStopped;
    const status = statusOf(failure);
    // A run that another process continues or has ended is not a failure of the agent.
    if (status === 'error' && !(failure instanceof RunOwnershipLost))
      this.#dependencies.log.error(
        { runId: this.plan.runId },
        `Run ${this.plan.runId} of graph "${this.plan.graphId}" failed: ${errorForLog(failure)}`,
      );
    const error = failure === undefined ? undefined : describeError(failure);
    const values = this.#result.values();
    const { temporary, kwargs } = this.plan;
    // A run that continued from an interrupted state may have failed with that interrupt open.
    const mayKeepInterrupt = failure !== undefined && (kwargs.command != null || kwargs.input == null);
    const waits = this.#result.reached.waitsFor !== undefined;
    if (temporary || graph === undefined || !(stopped || mayKeepInterrupt || waits))
      return { status, error, values, interrupts: '{}', unfinishedState: waits };
    const { log, clock } = this.#dependencies;
    const after = await retryWhileDatabaseDown(() => stateAfter(graph, this.plan.threadId, log), clock);
    return { status, error, values, ...after };
  }
}
