import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../database/unavailable.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { fateOf } from './orphan.ts';
import { RunKwargs } from './run-plan.ts';
import type { RunPlan } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import type { Runs } from './runs.ts';
import { stateAfter } from './state-after.ts';
import type { RunStore } from './store.ts';

/** How often (ms) a process looks for runs that were left, and for runs of its own that others were asked to end. */
export const SWEEP_MS = 1000;
/** How many are looked at in one go. */
const AT_ONCE = 100;

/** What the sweeps of a process work with. */
export interface RecoveryParts {
  store: RunStore;
  runs: Runs;
  graphs: Graphs;
  clock: Clock;
  log: (line: string) => void;
}

/**
 * Takes care of runs whose process is gone. A process counts as gone when the database has no connection of it in two
 * looks one after the other: a broken connection is replaced long before the second.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #stop = new AbortController();
  #seenOnce: ReadonlySet<string> = new Set();

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Looks again and again until it is stopped. */
  async keepLooking(): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Looking for runs that were left failed: ${String(error)}`);
      });
      // Stopping ends the wait early; there is nothing else to learn from it.
      await pause(clock, SWEEP_MS, signal);
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** One look. */
  async look(): Promise<void> {
    const { store, runs } = this.#parts;
    for (const request of await store.cancelRequests()) {
      runs.find(request.run_id)?.stop(request.cancel_action === 'rollback' ? 'rolled-back' : 'cancelled');
    }
    const orphans = await store.orphans(AT_ONCE, runs.inHand());
    const handedOver = (run: StoredRun) => run.process_id === null;
    for (const run of orphans) if (handedOver(run) || this.#seenOnce.has(key(run))) await this.#tryToTakeCareOf(run);
    this.#seenOnce = new Set(orphans.map(key));
  }

  /** One run that nobody can take care of does not keep the others from it. */
  async #tryToTakeCareOf(run: StoredRun): Promise<void> {
    try {
      await this.#takeCareOf(run);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.#parts.log(`Run ${run.run_id} was left by a process that is gone, and can't be taken up: ${String(error)}`);
    }
  }

  async #takeCareOf(run: StoredRun): Promise<void> {
    const { store, runs, graphs, log } = this.#parts;
    const fate = fateOf(run, (graphId) => graphs.has(graphId));
    if (!(await store.takeUp(run, fate.kind === 'go-on'))) return;
    const next = run.attempt + (run.status === 'running' ? 1 : 0);
    if (fate.kind === 'go-on') {
      log(`Run ${run.run_id} was left by a process that is gone; going on with attempt ${next}.`);
      runs.adopt(planOf(run, this.#parts.clock.now()), Number(run.sequence), next);
      return;
    }
    log(`Run ${run.run_id} was left by a process that is gone; it ends as ${fate.status}.`);
    const after = await this.#threadAfter(run);
    const ended = { runId: run.run_id, temporary: run.temporary };
    await store.end(ended, { status: fate.status, error: fate.error, values: undefined, ...after });
  }

  async #threadAfter(run: StoredRun): Promise<{ interrupts: string; unfinishedState: boolean }> {
    const { graphs, log } = this.#parts;
    if (run.temporary || !graphs.has(run.graph_id)) return { interrupts: '{}', unfinishedState: false };
    const graph = await graphs.make(run.graph_id, { configurable: {} }, 'thread');
    return stateAfter(graph, run.thread_id, log);
  }
}

const key = (run: StoredRun): string => `${run.run_id} ${run.process_id}`;

/** A stored run as a plan, to go on with it at `now` (ms since the epoch). */
export function planOf(run: StoredRun, now: number): RunPlan {
  return {
    runId: run.run_id,
    threadId: run.thread_id,
    assistantId: run.assistant_id,
    graphId: run.graph_id,
    metadata: run.metadata,
    threadMetadata: {},
    kwargs: RunKwargs.parse(run.kwargs),
    multitaskStrategy: run.multitask_strategy,
    temporary: run.temporary,
    detached: run.detached,
    resumable: false,
    delayMs: Math.max(0, (run.start_after?.getTime() ?? now) - now),
    acceptedAt: run.created_at.getTime(),
  };
}
