import { endsWithin } from '../../../kit/clock.ts';
import { stackOf } from '../../../kit/errors.ts';
import { Execution } from './execution.ts';
import type { RunDependencies } from './dependencies.ts';
import { RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import { Slots } from './slots.ts';

/** The runs of this process, queued by thread. */
export class RunExecutor {
  readonly slots: Slots;
  readonly #around: RunDependencies;
  readonly #executions = new Map<string, Execution>();
  readonly #start = new Set<string>();
  readonly #lines = new ThreadQueues();
  /** Called with every run that this process starts or takes over. */
  onStarted: (execution: Execution) => void = () => undefined;

  constructor(atOnce: number, around: Omit<RunDependencies, 'slots'>) {
    this.slots = new Slots(atOnce);
    this.#around = { ...around, slots: this.slots };
  }

  find(runId: string): Execution | undefined {
    return this.#executions.get(runId);
  }

  ofThread(threadId: string): Execution[] {
    return [...this.#executions.values()].filter(({ plan }) => plan.threadId === threadId);
  }

  /** The ids of this process's runs, including those being stored, without those that it only follows. */
  ids(): string[] {
    const own = [...this.#executions.values()].filter(({ isRemote }) => !isRemote);
    return [...own.map(({ plan }) => plan.runId), ...this.#start];
  }

  /** The ids of pending runs, which another process may take. */
  waiting(): string[] {
    return [...this.#executions.values()].flatMap(({ isWaiting, plan }) => (isWaiting ? [plan.runId] : []));
  }

  /** Counts runs as this process's while they are being stored. */
  async whileStarting<T>(runIds: readonly string[], begin: () => Promise<T>): Promise<T> {
    for (const id of runIds) this.#start.add(id);
    try {
      return await begin();
    } finally {
      for (const id of runIds) this.#start.delete(id);
    }
  }

  /** Starts to execute a stored run. */
  start(
    plan: RunPlan,
    sequence: number,
    {
      attempt = 1,
      started = false,
      followed = false,
    }: { attempt?: number; started?: boolean; followed?: boolean } = {},
  ): Execution {
    const { runId, threadId, warning } = plan;
    if (warning !== undefined) this.#around.log.warn({ runId }, `Part of run ${runId} is ignored: ${warning}`);
    let leave = (): void => undefined;
    const enqueue = (place: number): Promise<unknown> | undefined => {
      const before = this.#lines.endBefore(threadId, place);
      leave = this.#lines.add(threadId, { sequence: place, ended: execution.ended });
      return before;
    };
    // A delayed run does not block its thread until it is due.
    const isPutOff = plan.delayMs > 0;
    const after = isPutOff ? undefined : this.#lines.endBefore(threadId, sequence);
    const execution = new Execution(plan, this.#around, { attempt, started, followed, after, enqueue });
    this.#executions.set(runId, execution);
    this.onStarted(execution);
    if (!isPutOff) void enqueue(sequence);
    void execution.ended
      .catch((error: unknown) => {
        if (!(error instanceof RunStopped))
          this.#around.log.error({ runId }, `Run ${runId} failed with an internal error: ${stackOf(error)}`);
      })
      .finally(() => {
        // The run may have returned to this process while it was followed in another one.
        if (this.#executions.get(runId) === execution) this.#executions.delete(runId);
        leave();
      });
    return execution;
  }

  /** Waits for the runs. After `withinMs` detached ones go to the next process, delayed ones at once; others stop. */
  async drain(withinMs: number): Promise<void> {
    for (const execution of this.#executions.values()) {
      if (execution.isDelayed && execution.plan.detached) execution.stop('released');
    }
    await endsWithin(this.#around.clock, withinMs, this.#allEnded());
    // Loops, because runs may be added meanwhile.
    while (this.#executions.size > 0) {
      for (const execution of this.#executions.values())
        execution.stop(execution.plan.detached ? 'released' : 'shutdown');
      await this.#settled();
    }
  }

  async #allEnded(): Promise<void> {
    while (this.#executions.size > 0) await this.#settled();
  }

  async #settled(): Promise<void> {
    await Promise.allSettled([...this.#executions.values()].map(({ ended }) => ended));
  }
}

interface QueuedRun {
  /** The database's order of acceptance. */
  sequence: number;
  ended: Promise<unknown>;
}

/**
 * Queues the runs of this process by thread. A run only waits for one that was accepted before it: responses of the
 * database and runs of other processes arrive in any order, and two runs waiting for each other would deadlock.
 */
export class ThreadQueues {
  readonly #lines = new Map<string, Set<QueuedRun>>();

  /** The end of the last run before `sequence` on the thread; undefined if this process has none. */
  endBefore(threadId: string, sequence: number): Promise<unknown> | undefined {
    const earlier = [...(this.#lines.get(threadId) ?? [])].filter((run) => run.sequence < sequence);
    return earlier.toSorted((a, b) => b.sequence - a.sequence)[0]?.ended;
  }

  /** @returns removes the run from its queue. */
  add(threadId: string, run: QueuedRun): () => void {
    const line = this.#lines.get(threadId) ?? new Set<QueuedRun>();
    this.#lines.set(threadId, line.add(run));
    return () => {
      line.delete(run);
      if (line.size === 0 && this.#lines.get(threadId) === line) this.#lines.delete(threadId);
    };
  }
}
