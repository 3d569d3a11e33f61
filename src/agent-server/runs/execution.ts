import type { Clock } from '../../clock.ts';
import { ERROR_KEY } from '../../contract/agent/run.ts';
import { ERROR_EVENT, METADATA_EVENT } from '../../contract/agent/stream-event.ts';
import { isDatabaseUnavailable } from '../../database/unavailable.ts';
import type { Graph } from '../graphs/graph.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { usageOf } from '../tracing/usage.ts';
import type { Usage } from '../tracing/usage.ts';
import { toWire } from '../wire.ts';
import { unlessAborted } from './aborted.ts';
import { answerOf, runEngine } from './engine-run.ts';
import type { Reached } from './engine-run.ts';
import { EventLog } from './event-log.ts';
import { describeError, RunStopped } from './run-error.ts';
import type { StopReason } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';
import type { Slots } from './slots.ts';
import type { RunStore } from './store.ts';
import { stateAfter } from './state-after.ts';

/** What a run needs around it. */
export interface Surroundings {
  graphs: Graphs;
  store: RunStore;
  slots: Slots;
  clock: Clock;
  log: (line: string) => void;
}

/** How a run begins. */
export interface Beginning {
  attempt: number;
  /** Somebody is about to follow its events. */
  followed: boolean;
  /** It is `running` already and has its slot. */
  started: boolean;
  /** Settles when the run before it on its thread, in this process, has ended. */
  after: Promise<unknown> | undefined;
}

/** How often (ms) a run looks whether its turn has come, where another process has the thread. */
const TURN_POLL_MS = 200;
/** How long (ms) until the end of a run is written down again, while the database is away. */
const RETRY_MS = 500;

const failedWith = (error: string, message: string): RunEnd => ({
  status: 'error',
  error: { error, message },
  interrupts: '{}',
  values: undefined,
  unfinishedState: false,
});
const UNSTORABLE = failedWith('ResultNotStored', 'The run ended, but its result could not be stored.');
const NOT_TOLD = failedWith('Error', 'The run failed with an error that can not be shown.');

/** What the agent's owner needs to find a failure: its stack, within bounds. */
function told(failure: unknown): string {
  const stack: unknown = failure instanceof Error ? failure.stack : undefined;
  return (typeof stack === 'string' ? stack : describeError(failure).message).slice(0, 4000);
}

/** One run in the hands of this process, from its acceptance to its end in the database. */
export class Execution {
  readonly plan: RunPlan;
  readonly attempt: number;
  readonly events: EventLog;
  /** The JSON that a caller who waits is answered; there once the end is written down. */
  readonly ended: Promise<string>;
  readonly #around: Surroundings;
  readonly #stop = new AbortController();
  readonly #reached: Reached = { values: undefined, waitsFor: undefined };
  #lastValues: { values: unknown; json: string } | undefined;
  /** What a caller who waits is answered where the run succeeds. */
  #answer = 'null';

  constructor(plan: RunPlan, around: Surroundings, beginning: Beginning) {
    this.plan = plan;
    this.attempt = beginning.attempt;
    this.events = new EventLog(plan.resumable ? 'all' : beginning.followed ? 'until-followed' : 'none');
    this.#around = around;
    // Whatever happens, nobody waits for another event.
    this.ended = this.#carryOut(beginning).finally(() => this.events.close());
  }

  /** Ends the run where it is. The first reason counts. */
  stop(reason: StopReason): void {
    this.#stop.abort(new RunStopped(reason));
  }

  async #carryOut(beginning: Beginning): Promise<string> {
    const { runId } = this.plan;
    this.events.add(METADATA_EVENT, JSON.stringify({ run_id: runId, attempt: this.attempt }));
    let graph: Graph | undefined;
    let failure: unknown;
    try {
      await this.#turn(beginning);
      try {
        graph = await this.#makeGraph();
        await this.#run(graph);
      } finally {
        this.#around.slots.give();
      }
    } catch (error) {
      // Whatever a graph throws is how its run ended, and no failure of the server.
      failure = error ?? new Error('The graph threw nothing.');
    }
    const reached = await this.#endOf(failure, graph).catch((mistake: unknown): RunEnd => {
      // An error of the agent's may throw even when it is looked at; the run has ended all the same.
      this.#around.log(`How run ${runId} ended can't be told: ${describeError(mistake).message}`);
      return NOT_TOLD;
    });
    const end = await this.#settle({ ...reached, usage: this.#usage() }, failure, graph);
    if (this.plan.temporary) await this.#around.graphs.forget(this.plan.graphId, this.plan.threadId);
    if (end.error) this.events.add(ERROR_EVENT, JSON.stringify(end.error));
    return end.error ? JSON.stringify({ [ERROR_KEY]: end.error }) : this.#answer;
  }

  /** Waits until it is this run's turn: its time has come, its thread is free, and there is a slot. */
  async #turn({ started, after }: Beginning): Promise<void> {
    if (started) return;
    const { clock, slots, store } = this.#around;
    const { signal } = this.#stop;
    if (this.plan.delayMs > 0) await clock.sleep(this.plan.delayMs, signal);
    if (after) await unlessAborted(Promise.allSettled([after]), signal);
    for (;;) {
      await slots.take(signal);
      const claimed = await store.claim(this.plan.runId).catch((error: unknown) => {
        slots.give();
        throw error;
      });
      if (claimed) return;
      slots.give();
      await clock.sleep(TURN_POLL_MS, signal);
    }
  }

  #makeGraph(): Promise<Graph> {
    const { graphId, kwargs, temporary } = this.plan;
    return this.#around.graphs.make(
      graphId,
      { configurable: kwargs.config.configurable },
      temporary ? 'nothing' : 'thread',
    );
  }

  async #run(graph: Graph): Promise<void> {
    const { graphId, kwargs } = this.plan;
    const input = kwargs.command ? this.#around.graphs.command(graphId, kwargs.command) : (kwargs.input ?? null);
    await runEngine(graph, input, this.plan, {
      attempt: this.attempt,
      signal: this.#stop.signal,
      reached: this.#reached,
      emit: (event, data) => {
        const json = toWire(data);
        if (event === 'values') this.#lastValues = { values: data, json };
        this.events.add(event, json);
      },
    });
    // Here, because a state that JSON can't hold is how the run failed.
    const { values, waitsFor } = this.#reached;
    this.#answer =
      values !== undefined && waitsFor === undefined ? this.#wire(values) : toWire(answerOf(this.#reached));
  }

  async #endOf(failure: unknown, graph: Graph | undefined): Promise<RunEnd> {
    const stopped = this.#stop.signal.reason instanceof RunStopped && failure !== undefined;
    const status = stopped ? 'interrupted' : failure === undefined ? 'success' : 'error';
    if (status === 'error')
      this.#around.log(`Run ${this.plan.runId} of graph "${this.plan.graphId}" failed: ${told(failure)}`);
    const thrown = stopped ? this.#stop.signal.reason : failure;
    const error = thrown === undefined ? undefined : describeError(thrown);
    const values = this.#valuesLeft();
    const isInTheMiddle =
      !this.plan.temporary && graph !== undefined && (stopped || this.#reached.waitsFor !== undefined);
    if (!isInTheMiddle) return { status, error, values, interrupts: '{}', unfinishedState: false };
    return { status, error, values, ...(await stateAfter(graph, this.plan.threadId, this.#around.log)) };
  }

  /**
   * Writes the end down, however long the database is away: nobody hears of an end that is not stored. An end that
   * can't be stored as it is becomes a failure that says so.
   */
  async #settle(end: RunEnd, failure: unknown, graph: Graph | undefined): Promise<RunEnd> {
    const { clock, log } = this.#around;
    let last = end;
    for (;;) {
      try {
        await this.#write(last, failure, graph);
        return last;
      } catch (error) {
        if (isDatabaseUnavailable(error)) {
          await clock.sleep(RETRY_MS);
          continue;
        }
        log(`The end of run ${this.plan.runId} could not be stored: ${String(error)}`);
        if (last !== end) return last;
        last = UNSTORABLE;
      }
    }
  }

  async #write(end: RunEnd, failure: unknown, graph: Graph | undefined): Promise<void> {
    const { store } = this.#around;
    const { runId, threadId, temporary } = this.plan;
    const reason = failure instanceof RunStopped ? failure.reason : undefined;
    if (reason === 'handover') return store.release(runId);
    if (reason !== 'rolled-back') return store.end(this.plan, end);
    await store.rollBack(runId);
    if (temporary || graph === undefined) return;
    const before = await graph.getState({ configurable: { thread_id: threadId } });
    await store.restoreValues(threadId, before.createdAt === undefined ? null : toWire(before.values));
  }

  /** What its messages tell of tokens. A message of the agent's may throw when it is looked at, and then tells none. */
  #usage(): Usage | undefined {
    try {
      return usageOf(this.#reached.first, this.#reached.values);
    } catch (mistake) {
      this.#around.log(`The tokens of run ${this.plan.runId} can't be counted: ${describeError(mistake).message}`);
      return undefined;
    }
  }

  /** The state that the run reached, as JSON; undefined where there is none, or JSON can't hold it. */
  #valuesLeft(): string | undefined {
    const { values } = this.#reached;
    if (values === undefined) return undefined;
    try {
      return this.#wire(values);
    } catch (error) {
      this.#around.log(`The state of run ${this.plan.runId} is no JSON: ${describeError(error).message}`);
      return undefined;
    }
  }

  #wire(values: unknown): string {
    const last = this.#lastValues;
    return last !== undefined && last.values === values ? last.json : toWire(values);
  }
}
