import type { Clock } from '../../clock.ts';
import type { CancelAction, RunCreate } from '../../contract/agent/run.ts';
import type { RunAccess } from '../auth/run-access.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { Refusal } from '../refusal.ts';
import { noCheckpoint } from '../threads/place.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { CheckWebhook } from '../webhooks/webhooks.ts';
import { planOrder } from './acceptance.ts';
import type { Order } from './acceptance.ts';
import { Cancelling } from './cancelling.ts';
import { RemoteRuns } from './remote-runs.ts';
import type { Execution } from './execution.ts';
import { Following } from './following.ts';
import { RunExecutor } from './run-executor.ts';
import { OrphanedRuns } from './orphaned-runs.ts';
import type { RunQueue } from './queue.ts';
import type { RunEvents } from './run-events.ts';
import { checkpointOfAll } from './run-plan.ts';
import type { Carried, RunPlan } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import type { Started, CancelFilter, Querying, RunStore } from './store.ts';
import { atPlace, writeDown } from './write-down.ts';

/** What the runs of a process work with. */
export interface RunsParts {
  assistants: AssistantStore;
  threads: ThreadStore;
  store: RunStore;
  queue: RunQueue;
  events: RunEvents;
  graphs: Graphs;
  clock: Clock;
  log: (line: string) => void;
  /** How many runs may be carried out at once. */
  atOnce: number;
  /** How long (ms) a run may take; for ever where absent. */
  limitMs?: number | undefined;
  checkWebhook: CheckWebhook;
  /** Undefined where the agent has no rules of access. */
  access?: Pick<RunAccess, 'mayUse'> | undefined;
}

/** The way in for runs, and the way to those that there are, whichever process carries them out. */
export class Runs {
  readonly #parts: RunsParts;
  /** Runs for those who wait for them or hear their events. */
  readonly following: Following;
  readonly #executor: RunExecutor;
  readonly #remoteRuns: RemoteRuns;
  readonly #cancelling: Cancelling;
  #closing = false;
  #hasLeft = false;

  constructor(parts: RunsParts) {
    this.#parts = parts;
    const left = new OrphanedRuns(parts);
    this.#remoteRuns = new RemoteRuns({ ...parts, left });
    this.#executor = new RunExecutor(parts.atOnce, { ...parts, limitMs: parts.limitMs, remoteRuns: this.#remoteRuns });
    this.following = new Following({ ...parts, executor: this.#executor, remoteRuns: this.#remoteRuns, left });
    this.#cancelling = new Cancelling(this.#executor, parts);
  }

  /**
   * Accepts a run and begins to carry it out. It is in the database before this resolves.
   *
   * @param threadId undefined for a stateless run.
   * @throws Refusal when the run can't be accepted.
   */
  async start(request: RunCreate, threadId: string | undefined, carried: Carried): Promise<Execution> {
    const plan = await this.#plan({ request, threadId, carried });
    const { slots } = this.#executor;
    const mayStart = carried !== 'background' && plan.delayMs === 0 && slots.tryTake();
    let started = false;
    try {
      return await this.#executor.whileStarting([plan.runId], async () => {
        const makeThread = request.if_not_exists === 'create';
        const how = { stateless: threadId === undefined, mayStart, makeThread };
        const { status, sequence } = await writeDown(plan, how, this.#parts);
        started = status === 'running';
        const followed = carried === 'stream';
        const execution = this.#executor.carryOut(plan, sequence, { attempt: 1, started, followed });
        if (!started) await this.#cancelling.inTheWayOf(plan);
        return execution;
      });
    } finally {
      if (mayStart && !started) slots.give();
    }
  }

  /**
   * Accepts several stateless runs in the background: all of them, or none.
   *
   * @throws Refusal of the first that can't be accepted; `loc` then names its place.
   */
  async startMany(requests: readonly RunCreate[]): Promise<RunPlan[]> {
    const plans: RunPlan[] = [];
    for (const [at, request] of requests.entries()) {
      const order = { request, threadId: undefined, carried: 'background' } as const;
      plans.push(await this.#plan(order).catch((error: unknown) => Promise.reject(atPlace(error, at))));
    }
    const ids = plans.map(({ runId }) => runId);
    await this.#executor.whileStarting(ids, async () => {
      const places = await this.#parts.store.beginAll(plans);
      for (const [at, plan] of plans.entries()) {
        this.#executor.carryOut(plan, places[at] ?? 0, { attempt: 1, started: false, followed: false });
      }
    });
    return plans;
  }

  /**
   * Accepts a run in the background that is written down in a transaction of the caller's: it is there with what else
   * that transaction does, or not at all.
   *
   * @param within is handed what writes the run down on the transaction's connection. It resolves once all is committed
   *   with what became of the run, and with undefined where nothing was.
   * @throws Refusal when the run can't be accepted.
   */
  async startWithin(
    request: RunCreate,
    threadId: string | undefined,
    within: (begin: (on: Querying) => Promise<Started>) => Promise<Started | undefined>,
  ): Promise<Started | undefined> {
    const plan = await this.#plan({ request, threadId, carried: 'background' });
    return this.#executor.whileStarting([plan.runId], async () => {
      const { store } = this.#parts;
      const startedRun = await within((on) => store.begin(plan, threadId === undefined, false, on));
      if (startedRun?.kind !== 'started') return startedRun;
      this.#executor.carryOut(plan, startedRun.sequence, { attempt: 1, started: false, followed: false });
      await this.#cancelling.inTheWayOf(plan);
      return startedRun;
    });
  }

  /**
   * Looks whether a run would be accepted in the background, its thread aside.
   *
   * @returns whose run it would be.
   * @throws Refusal where it would not.
   */
  async check(request: RunCreate, threadId: string | undefined): Promise<Pick<RunPlan, 'assistantId' | 'graphId'>> {
    return this.#plan({ request, threadId, carried: 'background' });
  }

  /** @throws Refusal where a run can't name this URL. */
  checkWebhook(url: string | undefined): void {
    this.#parts.checkWebhook(url);
  }

  /** The run, if this process has it in hand. */
  find(runId: string): Execution | undefined {
    return this.#executor.find(runId);
  }

  /** The runs of a thread that this process has in hand. */
  ofThread(threadId: string): Execution[] {
    return this.#executor.ofThread(threadId);
  }

  /** Has somebody told of every run as it comes in hand here, before anything of it happens. */
  onStarted(listener: (execution: Execution) => void): void {
    this.#executor.onStarted = listener;
  }

  /** The ids of the runs that this process has in hand, or is about to. */
  inHand(): string[] {
    return this.#executor.ids();
  }

  /** The ids of the runs in hand that have not begun yet. */
  waiting(): string[] {
    return this.#executor.waiting();
  }

  /** Whether this process is about to leave: it takes no more runs. */
  get isLeaving(): boolean {
    return this.#closing;
  }

  /** Whether it has left the runs of other processes as well: that nothing more is told of one is not its end. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** How many more runs could be carried out at once. */
  get room(): number {
    return this.#closing ? 0 : this.#executor.slots.free;
  }

  /** Carries out a run that another process left; it has been taken up in the database. */
  adopt(plan: RunPlan, sequence: number, attempt: number): Execution {
    return this.#executor.carryOut(plan, sequence, { attempt, started: false, followed: false });
  }

  /** Ends an unfinished run, wherever it is carried out. */
  cancel(run: Pick<StoredRun, 'run_id'>, action: CancelAction): Promise<void> {
    return this.#cancelling.one(run.run_id, action);
  }

  /** Ends every unfinished run of those, wherever they are carried out. */
  cancelMany(which: CancelFilter, action: CancelAction): Promise<void> {
    return this.#cancelling.many(which, action);
  }

  /** Ends every unfinished run of a thread, and waits until they have ended; for those of other processes not for ever. */
  cancelThread(threadId: string): Promise<void> {
    return this.#cancelling.ofThread(threadId);
  }

  /** Ends a run because somebody went who had joined it and wanted that. */
  leave(run: Pick<StoredRun, 'run_id'>): void {
    this.#cancelling.leave(run.run_id);
  }

  /**
   * Takes no more runs, and waits for those in hand. After `withinMs` those that go on without a caller are left to
   * the next process, and the others end as interrupted.
   */
  async drain(withinMs: number): Promise<void> {
    this.#closing = true;
    await this.#executor.drain(withinMs, this.#parts.clock);
    this.#hasLeft = true;
    this.#remoteRuns.close();
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new Refusal(503, 'The server is stopping and takes no new runs. Ask again in a moment.');
  }

  /** @throws Refusal when the run can't be accepted. */
  async #plan(order: Order): Promise<RunPlan> {
    this.#mustBeOpen();
    const plan = await planOrder(order, this.#parts);
    if (order.threadId !== undefined) await this.#mustHaveItsCheckpoint(plan);
    this.#mustBeOpen();
    return plan;
  }

  /** Begun at a checkpoint that is not there, a run would leave an empty thread: the engine takes it for a new one. */
  async #mustHaveItsCheckpoint({ threadId, kwargs: { checkpoint } }: RunPlan): Promise<void> {
    const id = checkpointOfAll(checkpoint);
    if (id !== undefined && !(await this.#parts.store.hasCheckpoint(threadId, id))) throw noCheckpoint(threadId, id);
  }
}
