import type { Clock } from '../../clock.ts';
import type { CancelAction, RunCreate } from '../../contract/agent/run.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, Refusal } from '../refusal.ts';
import { noCheckpoint } from '../threads/place.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { CheckWebhook } from '../webhooks/webhooks.ts';
import { planOrder } from './acceptance.ts';
import type { Order } from './acceptance.ts';
import { Cancelling } from './cancelling.ts';
import { Elsewhere } from './elsewhere.ts';
import type { FollowedRun } from './elsewhere.ts';
import { EventLog } from './event-log.ts';
import type { Followable } from './event-log.ts';
import type { Execution } from './execution.ts';
import { followFromStored } from './follow-from-stored.ts';
import { Hands } from './hands.ts';
import { LeftBehind } from './left-behind.ts';
import type { RunQueue } from './queue.ts';
import type { RunEvents } from './run-events.ts';
import { checkpointOfAll } from './run-plan.ts';
import type { Carried, RunPlan } from './run-plan.ts';
import { isUnfinished } from './run-row.ts';
import type { StoredRun } from './run-row.ts';
import type { Begun, CancelFilter, Querying, RunStore } from './store.ts';

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
}

/** The way in for runs, and the way to those that there are, whichever process carries them out. */
export class Runs {
  readonly #parts: RunsParts;
  readonly #hands: Hands;
  readonly #left: LeftBehind;
  readonly #elsewhere: Elsewhere;
  readonly #cancelling: Cancelling;
  #closing = false;

  constructor(parts: RunsParts) {
    this.#parts = parts;
    this.#left = new LeftBehind(parts);
    this.#elsewhere = new Elsewhere({ ...parts, left: this.#left });
    this.#hands = new Hands(parts.atOnce, { ...parts, limitMs: parts.limitMs, elsewhere: this.#elsewhere });
    this.#cancelling = new Cancelling(this.#hands, parts);
  }

  /**
   * Accepts a run and begins to carry it out. It is in the database before this resolves.
   *
   * @param threadId undefined for a stateless run.
   * @throws Refusal when the run can't be accepted.
   */
  async start(request: RunCreate, threadId: string | undefined, carried: Carried): Promise<Execution> {
    const plan = await this.#plan({ request, threadId, carried });
    const { slots } = this.#hands;
    const mayStart = carried !== 'background' && plan.delayMs === 0 && slots.tryTake();
    let started = false;
    try {
      return await this.#hands.whileBeginning([plan.runId], async () => {
        const makeThread = request.if_not_exists === 'create';
        const { status, sequence } = await this.#begin(plan, threadId === undefined, mayStart, makeThread);
        started = status === 'running';
        const followed = carried === 'stream';
        const execution = this.#hands.carryOut(plan, sequence, { attempt: 1, started, followed });
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
    await this.#hands.whileBeginning(ids, async () => {
      const places = await this.#parts.store.beginAll(plans);
      for (const [at, plan] of plans.entries()) {
        this.#hands.carryOut(plan, places[at] ?? 0, { attempt: 1, started: false, followed: false });
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
    within: (begin: (on: Querying) => Promise<Begun>) => Promise<Begun | undefined>,
  ): Promise<Begun | undefined> {
    const plan = await this.#plan({ request, threadId, carried: 'background' });
    return this.#hands.whileBeginning([plan.runId], async () => {
      const { store } = this.#parts;
      const begun = await within((on) => store.begin(plan, threadId === undefined, false, on));
      if (begun?.kind !== 'begun') return begun;
      this.#hands.carryOut(plan, begun.sequence, { attempt: 1, started: false, followed: false });
      await this.#cancelling.inTheWayOf(plan);
      return begun;
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
    return this.#hands.find(runId);
  }

  /** The runs of a thread that this process has in hand. */
  ofThread(threadId: string): Execution[] {
    return this.#hands.ofThread(threadId);
  }

  /** Has somebody told of every run as it comes in hand here, before anything of it happens. */
  onBegun(listener: (execution: Execution) => void): void {
    this.#hands.onBegun = listener;
  }

  /** The ids of the runs that this process has in hand, or is about to. */
  inHand(): string[] {
    return this.#hands.ids();
  }

  /** The ids of the runs in hand that have not begun yet. */
  waiting(): string[] {
    return this.#hands.waiting();
  }

  /** How many more runs could be carried out at once. */
  get room(): number {
    return this.#closing ? 0 : this.#hands.slots.free;
  }

  /** Carries out a run that another process left; it has been taken up in the database. */
  adopt(plan: RunPlan, sequence: number, attempt: number): Execution {
    return this.#hands.carryOut(plan, sequence, { attempt, started: false, followed: false });
  }

  /** What a caller who waits for a run is answered, once it has ended, wherever it is carried out. */
  async ended(run: StoredRun): Promise<string> {
    const execution = this.find(run.run_id);
    if (execution) return execution.ended;
    return isUnfinished(run) ? this.#elsewhere.ended({ runId: run.run_id }) : this.#left.answer(run.run_id);
  }

  /** The events of a run, wherever it is carried out: of a resumable one all that there were, else what happens from now on. */
  events(run: StoredRun): Followable {
    const execution = this.find(run.run_id);
    if (execution?.plan.resumable) {
      const { events, log } = this.#parts;
      return followFromStored(run.run_id, execution.events, { events, complain: log });
    }
    if (execution) return execution.events;
    const ofWhich = followed(run);
    if (isUnfinished(run) || ofWhich.resumable) return this.#elsewhere.events(ofWhich);
    const nothing = new EventLog('none');
    nothing.close();
    return nothing;
  }

  /** @throws Refusal where a run's events after this number are not all kept any more. */
  async mustBeKept(run: Pick<StoredRun, 'run_id'>, after: number): Promise<void> {
    const dropped = await this.#parts.events.droppedAfter(run.run_id, after);
    if (dropped === undefined) return;
    const msg = `the events of this run up to ${dropped} are not kept any more: ask for those after ${dropped}, or after -1 for all that are kept`;
    throw new Refusal(422, [{ loc: ['header', 'Last-Event-ID'], msg, type: 'value_error' }]);
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
    await this.#hands.drain(withinMs, this.#parts.clock);
    this.#elsewhere.close();
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

  /** Writes the run down; it is `running` where it may start at once. */
  async #begin(
    plan: RunPlan,
    stateless: boolean,
    mayStart: boolean,
    makeThread: boolean,
  ): Promise<Extract<Begun, { kind: 'begun' }>> {
    let begun = await this.#parts.store.begin(plan, stateless, mayStart);
    if (begun.kind === 'no-thread' && makeThread) {
      await this.#parts.threads.create(plan.threadId, plan.threadMetadata);
      begun = await this.#parts.store.begin(plan, stateless, mayStart);
    }
    if (begun.kind === 'begun') return begun;
    if (begun.kind === 'no-thread') throw missing(`Thread ${plan.threadId} does not exist.`);
    throw new Refusal(
      409,
      `Thread ${plan.threadId} is busy with another run. Wait for it, or choose another multitask_strategy than "reject".`,
    );
  }
}

/** What it takes to follow a run of another process. */
const followed = (run: StoredRun): FollowedRun => ({
  runId: run.run_id,
  attempt: run.attempt,
  resumable: run.kwargs['resumable'] === true,
});

/** The refusal of one run among several. */
function atPlace(error: unknown, at: number): unknown {
  if (!(error instanceof Refusal)) return error;
  const { detail, status } = error;
  if (typeof detail === 'string') return new Refusal(status, `Run ${at} of the batch: ${detail}`);
  return new Refusal(
    status,
    detail.map(({ loc: [where = 'body', ...path], ...problem }) => ({ loc: [where, at, ...path], ...problem })),
  );
}
