import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { CancelAction, RunCreate } from '../../contract/agent/run.ts';
import type { StoredAssistant } from '../assistants/assistant.ts';
import type { AssistantStore } from '../assistants/store.ts';
import { contextProblems } from '../graphs/context.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, Refusal } from '../refusal.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { CheckWebhook } from '../webhooks/webhooks.ts';
import { Execution } from './execution.ts';
import type { Beginning, Surroundings } from './execution.ts';
import { planRun } from './run-plan.ts';
import type { Carried, RunPlan } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import { Slots } from './slots.ts';
import { ThreadLines } from './thread-lines.ts';
import type { Begun, Querying, RunStore } from './store.ts';

/** What the runs of a process work with. */
export interface RunsParts {
  assistants: AssistantStore;
  threads: ThreadStore;
  store: RunStore;
  graphs: Graphs;
  clock: Clock;
  log: (line: string) => void;
  /** How many runs may be carried out at once. */
  atOnce: number;
  checkWebhook: CheckWebhook;
}

/** How long (ms) another process may take to end a run before its thread is deleted all the same. */
const FOREIGN_CANCEL_MS = 5000;
const FOREIGN_POLL_MS = 200;

/** The runs that this process has in hand, and the way in for new ones. */
export class Runs {
  readonly #parts: RunsParts;
  readonly #slots: Slots;
  readonly #executions = new Map<string, Execution>();
  /** Runs that are being written down. */
  readonly #beginning = new Set<string>();
  readonly #lines = new ThreadLines();
  #closing = false;

  constructor(parts: RunsParts) {
    this.#parts = parts;
    this.#slots = new Slots(parts.atOnce);
  }

  /**
   * Accepts a run and begins to carry it out. It is in the database before this resolves.
   *
   * @param threadId undefined for a stateless run.
   * @throws Refusal when the run can't be accepted.
   */
  async start(request: RunCreate, threadId: string | undefined, carried: Carried): Promise<Execution> {
    const stateless = threadId === undefined;
    const plan = await this.#plan(request, threadId, carried);
    const mayStart = carried !== 'background' && plan.delayMs === 0 && this.#slots.tryTake();
    let started = false;
    this.#beginning.add(plan.runId);
    try {
      const { status, sequence } = await this.#begin(plan, stateless, mayStart, request.if_not_exists === 'create');
      started = status === 'running';
      const execution = this.#carryOut(plan, sequence, { attempt: 1, started, followed: carried === 'stream' });
      if (!started) await this.#makeWay(plan);
      return execution;
    } finally {
      this.#beginning.delete(plan.runId);
      if (mayStart && !started) this.#slots.give();
    }
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
    const plan = await this.#plan(request, threadId, 'background');
    this.#beginning.add(plan.runId);
    try {
      const { store } = this.#parts;
      const begun = await within((on) => store.begin(plan, threadId === undefined, false, on));
      if (begun?.kind !== 'begun') return begun;
      this.#carryOut(plan, begun.sequence, { attempt: 1, started: false, followed: false });
      await this.#makeWay(plan);
      return begun;
    } finally {
      this.#beginning.delete(plan.runId);
    }
  }

  /**
   * Looks whether a run would be accepted in the background, its thread aside.
   *
   * @returns whose run it would be.
   * @throws Refusal where it would not.
   */
  async check(request: RunCreate, threadId: string | undefined): Promise<Pick<RunPlan, 'assistantId' | 'graphId'>> {
    return this.#plan(request, threadId, 'background');
  }

  /** @throws Refusal where a run can't name this URL. */
  checkWebhook(url: string | undefined): void {
    this.#parts.checkWebhook(url);
  }

  /** The run, if this process has it in hand. */
  find(runId: string): Execution | undefined {
    return this.#executions.get(runId);
  }

  /** The ids of the runs that this process has in hand, or is about to. */
  inHand(): string[] {
    return [...this.#executions.keys(), ...this.#beginning];
  }

  /** Carries out a run that another process left; it has been taken up in the database. */
  adopt(plan: RunPlan, sequence: number, attempt: number): Execution {
    return this.#carryOut(plan, sequence, { attempt, started: false, followed: false });
  }

  /** Ends an unfinished run, wherever it is carried out. */
  async cancel(run: Pick<StoredRun, 'run_id'>, action: CancelAction): Promise<void> {
    const execution = this.#executions.get(run.run_id);
    if (execution) execution.stop(action === 'rollback' ? 'rolled-back' : 'cancelled');
    else await this.#parts.store.requestCancel(run.run_id, action);
  }

  /** Ends every unfinished run of a thread, and waits until they have ended; for those of other processes not for ever. */
  async cancelThread(threadId: string): Promise<void> {
    const { store, clock } = this.#parts;
    const until = clock.now() + FOREIGN_CANCEL_MS;
    for (;;) {
      const unfinished = await store.unfinished(threadId);
      for (const run of unfinished) await this.cancel(run, 'interrupt');
      const own = unfinished.flatMap(({ run_id }) => this.find(run_id) ?? []);
      await Promise.all(own.map(({ ended }) => ended));
      const foreign = own.length < unfinished.length;
      if (unfinished.length === 0 || (foreign && clock.now() >= until)) return;
      if (foreign) await clock.sleep(FOREIGN_POLL_MS);
    }
  }

  /**
   * Takes no more runs, and waits for those in hand. After `withinMs` those that go on without a caller are left to
   * the next process, and the others end as interrupted.
   */
  async drain(withinMs: number): Promise<void> {
    this.#closing = true;
    const enough = new AbortController();
    const all = this.#allEnded().then(() => enough.abort());
    await Promise.race([all, this.#parts.clock.sleep(withinMs, enough.signal).catch(() => all)]);
    for (const execution of this.#executions.values())
      execution.stop(execution.plan.detached ? 'handover' : 'shutdown');
    await this.#allEnded();
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new Refusal(503, 'The server is stopping and takes no new runs. Ask again in a moment.');
  }

  /** @throws Refusal when the run can't be accepted. */
  async #plan(request: RunCreate, threadId: string | undefined, carried: Carried): Promise<RunPlan> {
    this.#mustBeOpen();
    this.#parts.checkWebhook(request.webhook);
    const assistant = await this.#assistant(request.assistant_id);
    const plan = planRun(request, {
      runId: randomUUID(),
      threadId: threadId ?? randomUUID(),
      stateless: threadId === undefined,
      carried,
      now: this.#parts.clock.now(),
      assistant,
    });
    await this.#checkContext(plan);
    this.#mustBeOpen();
    return plan;
  }

  async #allEnded(): Promise<void> {
    while (this.#executions.size > 0) await Promise.all([...this.#executions.values()].map(({ ended }) => ended));
  }

  async #assistant(idOrGraph: string): Promise<StoredAssistant> {
    const assistant = await this.#parts.assistants.get(idOrGraph);
    if (!assistant)
      throw missing(`No assistant or graph "${idOrGraph}". Pass a graph id of this deployment or an assistant's uuid.`);
    if (!this.#parts.graphs.has(assistant.graph_id)) {
      throw missing(
        `Assistant ${assistant.assistant_id} is of graph "${assistant.graph_id}", which this revision does not have.`,
      );
    }
    return assistant;
  }

  async #checkContext({ graphId, kwargs, temporary }: RunPlan): Promise<void> {
    const config = { configurable: kwargs.config.configurable };
    const keeping = temporary ? 'nothing' : 'thread';
    // A function that can't make its graph for this run is how the run fails; it is called again there.
    const graph = await this.#parts.graphs.make(graphId, config, keeping).catch(() => undefined);
    if (graph === undefined) return;
    const problems = await contextProblems(graph, kwargs.context ?? config.configurable, { mayLack: false });
    if (problems.length > 0) throw new Refusal(422, problems);
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

  #carryOut(plan: RunPlan, sequence: number, beginning: Omit<Beginning, 'after'>): Execution {
    const { graphs, store, clock, log } = this.#parts;
    const around: Surroundings = { graphs, store, slots: this.#slots, clock, log };
    const after = plan.temporary ? undefined : this.#lines.endBefore(plan.threadId, sequence);
    const execution = new Execution(plan, around, { ...beginning, after });
    this.#executions.set(plan.runId, execution);
    const leave = this.#lines.add(plan.threadId, { sequence, ended: execution.ended });
    void execution.ended
      .catch((error: unknown) => log(`Run ${plan.runId} ended in a mistake of the server: ${String(error)}`))
      .finally(() => {
        this.#executions.delete(plan.runId);
        leave();
      });
    return execution;
  }

  /** Where a run's strategy says so, ends what is in its way on the thread. */
  async #makeWay({ threadId, runId, multitaskStrategy }: RunPlan): Promise<void> {
    if (multitaskStrategy !== 'interrupt' && multitaskStrategy !== 'rollback') return;
    const action = multitaskStrategy === 'rollback' ? 'rollback' : 'interrupt';
    for (const run of await this.#parts.store.unfinishedBefore(threadId, runId)) await this.cancel(run, action);
  }
}
