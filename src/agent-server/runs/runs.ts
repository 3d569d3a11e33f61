import type { Clock } from '../../clock.ts';
import type { CancelAction, RunCreate } from '../../contract/agent/run.ts';
import type { RunAccess } from '../auth/run-access.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { ShuttingDown } from '../refusal.ts';
import { noCheckpoint } from '../threads/place.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { CheckWebhook } from '../webhooks/webhooks.ts';
import { planOrder } from './acceptance.ts';
import type { RequestedRun } from './acceptance.ts';
import { Cancelling } from './cancelling.ts';
import { RemoteRuns } from './remote-runs.ts';
import type { Execution } from './execution.ts';
import { Following } from './following.ts';
import { RunExecutor } from './run-executor.ts';
import { EndedRuns } from './ended-runs.ts';
import type { RunQueue } from './queue.ts';
import type { RunEvents } from './run-events.ts';
import { checkpointOfAll } from './run-plan.ts';
import type { RunMode, RunPlan } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import type { Started, CancelFilter, Querying, RunStore } from './store.ts';
import { refusalInBatch, storeRun } from './store-run.ts';
import type { Logger } from '../../logger.ts';

/** The dependencies of `Runs`. */
export interface RunsParts {
  assistants: AssistantStore;
  threads: ThreadStore;
  store: RunStore;
  queue: RunQueue;
  events: RunEvents;
  graphs: Graphs;
  clock: Clock;
  log: Logger;
  /** The number of concurrent runs. */
  atOnce: number;
  /** The time limit (ms) of a run; absent for none. */
  limitMs?: number | undefined;
  checkWebhook: CheckWebhook;
  /** Undefined if the agent has no authorization rules. */
  access?: Pick<RunAccess, 'mayUse'> | undefined;
}

/** Starts runs and gives access to existing ones, whichever process executes them. */
export class Runs {
  readonly #parts: RunsParts;
  /** Waits for runs and streams them. */
  readonly following: Following;
  readonly #executor: RunExecutor;
  readonly #remoteRuns: RemoteRuns;
  readonly #cancelling: Cancelling;
  #closing = false;
  #hasClosed = false;

  constructor(parts: RunsParts) {
    this.#parts = parts;
    const left = new EndedRuns(parts);
    this.#remoteRuns = new RemoteRuns({ ...parts, left });
    this.#executor = new RunExecutor(parts.atOnce, { ...parts, limitMs: parts.limitMs, remoteRuns: this.#remoteRuns });
    this.following = new Following({ ...parts, executor: this.#executor, remoteRuns: this.#remoteRuns, left });
    this.#cancelling = new Cancelling(this.#executor, parts);
  }

  /**
   * Accepts a run and starts it. The run is stored before this resolves.
   *
   * @param threadId undefined for a stateless run.
   * @throws Refusal if the run can't be accepted.
   */
  async start(request: RunCreate, threadId: string | undefined, mode: RunMode): Promise<Execution> {
    const plan = await this.#plan({ request, threadId, mode });
    const { slots } = this.#executor;
    const mayStart = mode !== 'background' && plan.delayMs === 0 && slots.tryTake();
    let started = false;
    try {
      return await this.#executor.whileStarting([plan.runId], async () => {
        const makeThread = request.if_not_exists === 'create';
        const how = { stateless: threadId === undefined, mayStart, makeThread };
        const { status, sequence } = await storeRun(plan, how, this.#parts);
        started = status === 'running';
        const followed = mode === 'stream';
        const execution = this.#executor.start(plan, sequence, { attempt: 1, started, followed });
        if (!started) await this.#cancelling.cancelEarlierRuns(plan);
        return execution;
      });
    } finally {
      if (mayStart && !started) slots.release();
    }
  }

  /**
   * Accepts several stateless background runs: all or none.
   *
   * @throws Refusal of the first that can't be accepted; `loc` names its position.
   */
  async startMany(requests: readonly RunCreate[]): Promise<RunPlan[]> {
    const plans: RunPlan[] = [];
    for (const [at, request] of requests.entries()) {
      const order = { request, threadId: undefined, mode: 'background' } as const;
      plans.push(await this.#plan(order).catch((error: unknown) => Promise.reject(refusalInBatch(error, at))));
    }
    const ids = plans.map(({ runId }) => runId);
    await this.#executor.whileStarting(ids, async () => {
      const places = await this.#parts.store.beginAll(plans);
      for (const [at, plan] of plans.entries()) {
        this.#executor.start(plan, places[at] ?? 0, { attempt: 1, started: false, followed: false });
      }
    });
    return plans;
  }

  /**
   * Accepts a background run as part of the caller's transaction.
   *
   * @param within receives a function that stores the run on the transaction's connection. It resolves after the commit
   *   with that function's result, or with undefined if the run was not stored.
   * @throws Refusal if the run can't be accepted.
   */
  async startWithin(
    request: RunCreate,
    threadId: string | undefined,
    within: (begin: (on: Querying) => Promise<Started>) => Promise<Started | undefined>,
  ): Promise<Started | undefined> {
    const plan = await this.#plan({ request, threadId, mode: 'background' });
    return this.#executor.whileStarting([plan.runId], async () => {
      const { store } = this.#parts;
      const startedRun = await within((on) => store.begin(plan, threadId === undefined, false, on));
      if (startedRun?.kind !== 'started') return startedRun;
      this.#executor.start(plan, startedRun.sequence, { attempt: 1, started: false, followed: false });
      await this.#cancelling.cancelEarlierRuns(plan);
      return startedRun;
    });
  }

  /**
   * Checks whether a background run would be accepted; does not check its thread.
   *
   * @returns the run's assistant and graph.
   * @throws Refusal if not.
   */
  async check(request: RunCreate, threadId: string | undefined): Promise<Pick<RunPlan, 'assistantId' | 'graphId'>> {
    return this.#plan({ request, threadId, mode: 'background' });
  }

  /** @throws Refusal if a run can't use this URL. */
  checkWebhook(url: string | undefined): void {
    this.#parts.checkWebhook(url);
  }

  /** Finds a run of this process. */
  find(runId: string): Execution | undefined {
    return this.#executor.find(runId);
  }

  /** The runs of a thread in this process. */
  ofThread(threadId: string): Execution[] {
    return this.#executor.ofThread(threadId);
  }

  /** Registers a listener for every run that this process starts or takes over, called before its first event. */
  onStarted(listener: (execution: Execution) => void): void {
    this.#executor.onStarted = listener;
  }

  /** The ids of this process's runs, including those being stored. */
  runIds(): string[] {
    return this.#executor.ids();
  }

  /** The ids of this process's pending runs. */
  pendingRunIds(): string[] {
    return this.#executor.waiting();
  }

  /** Whether this process is shutting down: it accepts no runs. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Whether it also stopped following runs of other processes: the end of their events is not the end of the run. */
  get hasClosed(): boolean {
    return this.#hasClosed;
  }

  /** The number of free slots. */
  get freeSlots(): number {
    return this.#closing ? 0 : this.#executor.slots.free;
  }

  /** Executes a run of another process that was taken over in the database. */
  takeOver(plan: RunPlan, sequence: number, attempt: number): Execution {
    return this.#executor.start(plan, sequence, { attempt, started: false, followed: false });
  }

  /** Ends an unfinished run in any process. */
  cancel(run: Pick<StoredRun, 'run_id'>, action: CancelAction): Promise<void> {
    return this.#cancelling.one(run.run_id, action);
  }

  /** Ends every unfinished run that matches, in any process. */
  cancelMany(which: CancelFilter, action: CancelAction): Promise<void> {
    return this.#cancelling.many(which, action);
  }

  /** Ends every unfinished run of a thread, and waits for them; for those of other processes only for a limited time. */
  cancelThread(threadId: string): Promise<void> {
    return this.#cancelling.ofThread(threadId);
  }

  /** Ends a run because a caller that joined it with `cancel_on_disconnect` disconnected. */
  cancelAbandoned(run: Pick<StoredRun, 'run_id'>): void {
    this.#cancelling.leave(run.run_id);
  }

  /**
   * Accepts no more runs, and waits for the current ones. After `withinMs` detached ones are released to the next process,
   * and the others end as interrupted.
   */
  async drain(withinMs: number): Promise<void> {
    this.#closing = true;
    await this.#executor.drain(withinMs, this.#parts.clock);
    this.#hasClosed = true;
    this.#remoteRuns.close();
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new ShuttingDown();
  }

  /** @throws Refusal if the run can't be accepted. */
  async #plan(order: RequestedRun): Promise<RunPlan> {
    this.#mustBeOpen();
    const plan = await planOrder(order, this.#parts);
    if (order.threadId !== undefined) await this.#mustHaveItsCheckpoint(plan);
    this.#mustBeOpen();
    return plan;
  }

  /** Requires the checkpoint of the run: the engine would treat a missing one as an empty thread. */
  async #mustHaveItsCheckpoint({ threadId, kwargs: { checkpoint } }: RunPlan): Promise<void> {
    const id = checkpointOfAll(checkpoint);
    if (id !== undefined && !(await this.#parts.store.hasCheckpoint(threadId, id))) throw noCheckpoint(threadId, id);
  }
}
