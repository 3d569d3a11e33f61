import type { Graphs } from '../graphs/graphs.ts';
import { GraphNotMade } from '../graphs/graph-not-made.ts';
import type { StoredThread, ThreadStore } from '../threads/store.ts';
import { endedRunResponse, needsState, rowStatusOf } from './ended-run.ts';
import type { EndedRunState } from './ended-run.ts';
import type { RunEvents } from './run-events.ts';
import { allInterrupts } from './open-tasks.ts';
import { runKwargs } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import type { RunStore } from './store.ts';

/** The dependencies of `EndedRuns`. */
export interface EndedRunsParts {
  store: RunStore;
  events: RunEvents;
  threads: ThreadStore;
  graphs: Graphs;
}

/** The results of ended runs: their own, even if later runs have changed their threads. */
export class EndedRuns {
  readonly #parts: EndedRunsParts;

  constructor(parts: EndedRunsParts) {
    this.#parts = parts;
  }

  /** The response (JSON) for a caller that waits for the ended run. */
  async answer(runId: string): Promise<string> {
    const { store, events } = this.#parts;
    const [run, ending] = await Promise.all([store.find(runId), events.ending(runId)]);
    const state = run && needsState({ run, ending }) ? await this.#state(run) : undefined;
    return endedRunResponse({ run, ending, state });
  }

  async #state(run: StoredRun): Promise<EndedRunState | undefined> {
    const thread = await this.#parts.threads.get(run.thread_id);
    if (!thread) return undefined;
    const rowStatus = rowStatusOf(run, thread);
    if (rowStatus === 'as-it-left-it') return inRow(thread);
    return (await this.#ownState(run)) ?? (rowStatus === 'changed' ? undefined : inRow(thread));
  }

  /** The state at the last checkpoint that the run itself wrote. */
  async #ownState(run: StoredRun): Promise<EndedRunState | undefined> {
    const { store, graphs } = this.#parts;
    if (!graphs.has(run.graph_id)) return undefined;
    const checkpointId = await store.lastCheckpoint(run);
    if (checkpointId === undefined) return undefined;
    const { configurable } = runKwargs.parse(run.kwargs).config;
    const graph = await graphs.make(run.graph_id, { configurable }, 'thread').catch((error: unknown) => {
      if (!(error instanceof GraphNotMade)) throw error;
      return undefined;
    });
    const place = { thread_id: run.thread_id, checkpoint_ns: '', checkpoint_id: checkpointId };
    const state = await graph?.getState({ configurable: place });
    if (state === undefined) return undefined;
    const interrupts = Object.values(allInterrupts(state.tasks)).flat();
    const waits = state.next.length > 0 || interrupts.length > 0;
    return { values: state.values, waitsFor: waits ? interrupts : undefined };
  }
}

/** The state in a thread's row. */
const inRow = ({ status, values, interrupts }: StoredThread): EndedRunState => ({
  values: values ?? null,
  waitsFor: status === 'interrupted' ? Object.values(interrupts).flat() : undefined,
});
