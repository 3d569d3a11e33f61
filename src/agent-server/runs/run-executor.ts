import type { Clock } from '../../clock.ts';
import { Execution } from './execution.ts';
import type { RunStart, RunDependencies } from './dependencies.ts';
import { RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import { Slots } from './slots.ts';
import { ThreadLines } from './thread-lines.ts';

/** The runs that this process has in hand, each in the line of its thread. */
export class RunExecutor {
  readonly slots: Slots;
  readonly #around: RunDependencies;
  readonly #executions = new Map<string, Execution>();
  /** Runs that are being written down. */
  readonly #start = new Set<string>();
  readonly #lines = new ThreadLines();
  /** Told of every run as it comes in hand. */
  onStarted: (execution: Execution) => void = () => undefined;

  /** @param atOnce how many runs may be carried out at once. */
  constructor(atOnce: number, around: Omit<RunDependencies, 'slots'>) {
    this.slots = new Slots(atOnce);
    this.#around = { ...around, slots: this.slots };
  }

  /** The run, if it is in hand. */
  find(runId: string): Execution | undefined {
    return this.#executions.get(runId);
  }

  /** The runs of a thread that are in hand. */
  ofThread(threadId: string): Execution[] {
    return [...this.#executions.values()].filter(({ plan }) => plan.threadId === threadId);
  }

  /** The ids of the runs that are in hand, or about to be; not of those that are only followed. */
  ids(): string[] {
    const own = [...this.#executions.values()].filter(({ isRemote }) => !isRemote);
    return [...own.map(({ plan }) => plan.runId), ...this.#start];
  }

  /** The ids of those that have not begun yet: another process may take them. */
  waiting(): string[] {
    return [...this.#executions.values()].flatMap(({ isWaiting, plan }) => (isWaiting ? [plan.runId] : []));
  }

  /** Has runs counted as in hand while they are written down. */
  async whileStarting<T>(runIds: readonly string[], begin: () => Promise<T>): Promise<T> {
    for (const id of runIds) this.#start.add(id);
    try {
      return await begin();
    } finally {
      for (const id of runIds) this.#start.delete(id);
    }
  }

  /** Begins to carry out a run that is written down. */
  carryOut(plan: RunPlan, sequence: number, start: Omit<RunStart, 'after' | 'joinLine'>): Execution {
    const { runId, threadId } = plan;
    let leave = (): void => undefined;
    const joinLine = (place: number): Promise<unknown> | undefined => {
      const before = this.#lines.endBefore(threadId, place);
      leave = this.#lines.add(threadId, { sequence: place, ended: execution.ended });
      return before;
    };
    // A run that is put off stands in nobody's way until its time has come.
    const isPutOff = plan.delayMs > 0;
    const after = isPutOff ? undefined : this.#lines.endBefore(threadId, sequence);
    const execution = new Execution(plan, this.#around, { ...start, after, joinLine });
    this.#executions.set(runId, execution);
    this.onStarted(execution);
    if (!isPutOff) void joinLine(sequence);
    void execution.ended
      .catch((error: unknown) => {
        if (!(error instanceof RunStopped))
          this.#around.log(`Run ${runId} ended in a mistake of the server: ${String(error)}`);
      })
      .finally(() => {
        // It may have come back to this process while it was followed elsewhere.
        if (this.#executions.get(runId) === execution) this.#executions.delete(runId);
        leave();
      });
    return execution;
  }

  /**
   * Waits for the runs in hand. After `withinMs` those that go on without a caller are left to the next process, and the
   * others end as interrupted; those whose time is not near are left to it at once.
   */
  async drain(withinMs: number, clock: Clock): Promise<void> {
    for (const execution of this.#executions.values()) {
      if (execution.isPutOff && execution.plan.detached) execution.stop('handover');
    }
    const enough = new AbortController();
    const all = this.#allEnded().then(() => enough.abort());
    await Promise.race([all, clock.sleep(withinMs, enough.signal).catch(() => all)]);
    // One that came in hand meanwhile is let go of as well.
    while (this.#executions.size > 0) {
      for (const execution of this.#executions.values())
        execution.stop(execution.plan.detached ? 'handover' : 'shutdown');
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
