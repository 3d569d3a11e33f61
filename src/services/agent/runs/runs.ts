import type { RunCreate } from '../../../contract/agent/run.ts';
import { noThread, Refusal, ShuttingDown } from '../refusal.ts';
import { noCheckpoint } from '../threads/checkpoint-selector.ts';
import type { ThreadStore } from '../threads/store.ts';
import { OtherLanguage } from '../graphs/checkpoint-language.ts';
import { planRequestedRun, type AcceptanceDependencies, type RequestedRun } from './acceptance.ts';
import { runCanceller, type RunCanceller } from './run-canceller.ts';
import type { RunDependencies } from './dependencies.ts';
import { RemoteRuns } from './remote-runs.ts';
import { runJoiner, type RunJoiner } from './run-joiner.ts';
import { RunExecutor } from './run-executor.ts';
import { EndedRuns } from './ended-run.ts';
import { checkpointOfAll, type RunMode, type RunPlan } from './run-plan.ts';
import type { BeginRunResult } from './store.ts';
import type { Queryable } from '../storage/transaction.ts';

type RunsDependencies = Omit<RunDependencies, 'remoteRuns' | 'slots'> &
  AcceptanceDependencies & {
    threads: ThreadStore;
    atOnce: number;
  };

/** Starts runs and gives access to existing ones, whichever process executes them. */
export class Runs {
  /** Waits for runs and streams them. */
  readonly following: RunJoiner;
  readonly executor: RunExecutor;
  readonly cancelling: RunCanceller;
  /** This process is shutting down: it accepts no runs. */
  isClosing = false;
  /** It also stopped following runs of other processes: the end of their events is not the end of the run. */
  hasClosed = false;
  readonly #dependencies: RunsDependencies;
  readonly #remoteRuns: RemoteRuns;

  constructor(dependencies: RunsDependencies) {
    this.#dependencies = dependencies;
    const left = new EndedRuns(dependencies);
    this.#remoteRuns = new RemoteRuns({ ...dependencies, left });
    this.executor = new RunExecutor(dependencies.atOnce, { ...dependencies, remoteRuns: this.#remoteRuns });
    this.following = runJoiner({ ...dependencies, executor: this.executor, remoteRuns: this.#remoteRuns, left });
    this.cancelling = runCanceller(this.executor, dependencies);
  }

  /** Stores a run and starts it; `threadId` is undefined if it is stateless. @throws Refusal if it is not accepted. */
  async start(request: RunCreate, threadId: string | undefined, mode: RunMode, forThreadStream = false) {
    const plan = await this.#plan({ request, threadId, mode, forThreadStream });
    const { slots } = this.executor;
    const mayStart = mode !== 'background' && plan.delayMs === 0 && slots.tryTake();
    let started = false;
    try {
      return await this.executor.whileStarting([plan.runId], async () => {
        const { status, sequence } = await this.#store(plan, request, { stateless: threadId === undefined, mayStart });
        started = status === 'running';
        const followed = mode === 'stream';
        const execution = this.executor.start(plan, sequence, { started, followed });
        if (!started) await this.cancelling.cancelEarlierRuns(plan);
        return execution;
      });
    } finally {
      if (mayStart && !started) slots.release();
    }
  }

  /** Accepts several stateless background runs: all or none. @throws Refusal of the first; `loc` names its position. */
  async startMany(requests: readonly RunCreate[]): Promise<RunPlan[]> {
    const plans: RunPlan[] = [];
    for (const [at, request] of requests.entries()) {
      const order = { request, threadId: undefined, mode: 'background' } as const;
      plans.push(await this.#plan(order).catch((error: unknown) => Promise.reject(refusalInBatch(error, at))));
    }
    const ids = plans.map(({ runId }) => runId);
    await this.executor.whileStarting(ids, async () => {
      const places = await this.#dependencies.store.beginAll(plans);
      for (const [at, plan] of plans.entries()) this.executor.start(plan, places[at] ?? 0);
    });
    return plans;
  }

  /**
   * Accepts a background run in the caller's transaction. @param within gets a function that stores the run, and
   * resolves with its result after the commit, or with undefined. @throws Refusal if the run can't be accepted.
   */
  async startWithin(
    request: RunCreate,
    threadId: string | undefined,
    within: (begin: (on: Queryable) => Promise<BeginRunResult>) => Promise<BeginRunResult | undefined>,
  ): Promise<BeginRunResult | undefined> {
    const plan = await this.#planInLanguage({ request, threadId, mode: 'background' });
    return this.executor.whileStarting([plan.runId], async () => {
      const { store } = this.#dependencies;
      const startedRun = await within((on) => store.begin(plan, threadId === undefined, false, { on }));
      if (startedRun?.kind !== 'started') return startedRun;
      this.executor.start(plan, startedRun.sequence);
      await this.cancelling.cancelEarlierRuns(plan);
      return startedRun;
    });
  }

  /** The assistant and graph of a background run. @throws Refusal if not accepted; its thread is not checked. */
  async check(request: RunCreate, threadId: string | undefined): Promise<Pick<RunPlan, 'assistantId' | 'graphId'>> {
    return this.#planInLanguage({ request, threadId, mode: 'background' });
  }

  /** The ids of this process's runs, including those being stored. */
  runIds(): string[] {
    return this.executor.ids();
  }

  /** Accepts no more runs, and waits for the current ones (`RunExecutor.drain`). */
  async drain(withinMs: number): Promise<void> {
    this.isClosing = true;
    await this.executor.drain(withinMs);
    this.hasClosed = true;
    this.#remoteRuns.close();
  }

  /** @throws Refusal if the run's thread is missing, or busy and the run does not wait. */
  async #store(plan: RunPlan, request: RunCreate, { stateless, mayStart }: { stateless: boolean; mayStart: boolean }) {
    const { store, threads, graphs } = this.#dependencies;
    const begin = () => store.begin(plan, stateless, mayStart, { language: graphs.languageOf(plan.graphId) });
    let started = await begin();
    if (started.kind === 'no-thread' && request.if_not_exists === 'create') {
      await threads.create(plan.threadId, plan.threadMetadata);
      started = await begin();
    }
    if (started.kind === 'started') return started;
    if (started.kind === 'no-thread') throw noThread(plan.threadId);
    if (started.kind === 'other-language') throw new OtherLanguage(started.written);
    throw new Refusal(
      409,
      `Thread is already running a task. Wait for the run of thread ${plan.threadId}, or choose another multitask_strategy than "reject".`,
    );
  }

  /** @throws Refusal if the run can't be accepted. */
  async #plan(order: RequestedRun): Promise<RunPlan> {
    if (this.isClosing) throw new ShuttingDown();
    const plan = await planRequestedRun(order, this.#dependencies);
    // The engine would treat a missing checkpoint as an empty thread.
    const id = order.threadId === undefined ? undefined : checkpointOfAll(plan.kwargs.checkpoint);
    if (id !== undefined) await this.#checkCheckpoint(plan.threadId, id);
    if (this.isClosing) throw new ShuttingDown();
    return plan;
  }

  async #checkCheckpoint(threadId: string, id: string): Promise<void> {
    const { graphs, store } = this.#dependencies;
    await graphs.writes.flushThread(threadId);
    if (!(await store.hasCheckpoint(threadId, id))) throw noCheckpoint(threadId, id);
  }

  /** The same, where the run is stored later, or in another transaction. @throws OtherLanguage as well. */
  async #planInLanguage(order: RequestedRun): Promise<RunPlan> {
    const plan = await this.#plan(order);
    const language = this.#dependencies.graphs.languageOf(plan.graphId);
    if (order.threadId === undefined || language === undefined) return plan;
    const written = await this.#dependencies.store.languageOf(order.threadId);
    if (written !== undefined && written !== language) throw new OtherLanguage(written);
    return plan;
  }
}

function refusalInBatch(error: unknown, at: number): unknown {
  if (!(error instanceof Refusal)) return error;
  const { detail, status, headers } = error;
  if (typeof detail === 'string') return new Refusal(status, `Run ${at} of the batch: ${detail}`, headers);
  return new Refusal(
    status,
    detail.map(({ loc: [where = 'body', ...path], ...problem }) => ({ loc: [where, at, ...path], ...problem })),
    headers,
  );
}
