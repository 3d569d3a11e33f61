import { errorKey } from '../../../contract/agent/run.ts';
import type { StoredThread, ThreadStore } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import type { RunStore } from './store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { valuesWithInterrupts, type RunState } from './engine-run.ts';
import { ignoreFactoryError } from './run-error.ts';
import { allInterrupts } from './open-tasks.ts';
import type { RunEvents, StoredEnding } from './run-events.ts';
import { runKwargs } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import { readsThread } from '../graphs/graph.ts';

export interface EndedRunRecord {
  run: Pick<StoredRun, 'status' | 'error'> | undefined;
  ending: StoredEnding | undefined;
  state: RunState | undefined;
}

const nothingKept = {
  error: 'ResultNotKept',
  message:
    'The run has ended and its result is no longer available: it was deleted, or it was stateless. Set "on_completion": "keep" to keep a stateless run.',
};

const stateNotKept = {
  error: 'ResultNotKept',
  message:
    'The run succeeded, but its result is no longer available: its thread has changed since, and its own states were removed, or this revision does not have their graph.',
};

/** The error of a run, as JSON; undefined if it did not fail. */
export function endedRunError({ run, ending }: Pick<EndedRunRecord, 'run' | 'ending'>): string | undefined {
  if (run) return run.error ? JSON.stringify(run.error) : undefined;
  if (ending === undefined) return JSON.stringify(nothingKept);
  return ending.kind === 'error' ? ending.json : undefined;
}

/** Whether the response needs the run's state: it did not fail, and its response was not stored. */
const needsState = (left: Pick<EndedRunRecord, 'run' | 'ending'>): boolean =>
  endedRunError(left) === undefined && left.ending?.kind !== 'values';

/** The response for a waiting caller: the run's error, its stored response, else its state with the interrupts. */
export function endedRunResponse(left: EndedRunRecord): string {
  const failed = (error: string) => `{${JSON.stringify(errorKey)}:${error}}`;
  const error = endedRunError(left);
  if (error !== undefined) return failed(error);
  if (left.ending?.kind === 'values') return left.ending.json;
  return left.state === undefined ? failed(JSON.stringify(stateNotKept)) : toWire(valuesWithInterrupts(left.state));
}

/** Whether a thread's row holds the result of a run, whose end writes the same time to both, or an older one. */
export function compareWithThread(
  run: Pick<StoredRun, 'ended_at'>,
  thread: Pick<StoredThread, 'state_updated_at' | 'status'>,
): 'as-it-left-it' | 'not-changed-since' | 'changed' {
  const [endedAt, changedAt] = [run.ended_at?.getTime(), thread.state_updated_at?.getTime()];
  // The row of a busy thread has no interrupts.
  if (endedAt === changedAt && thread.status !== 'busy') return 'as-it-left-it';
  return changedAt === undefined || (endedAt !== undefined && changedAt <= endedAt) ? 'not-changed-since' : 'changed';
}

interface EndedRunsDependencies {
  store: RunStore;
  events: RunEvents;
  graphs: Graphs;
  threads: ThreadStore;
}

/** The results of ended runs: their own, even if later runs have changed their threads. */
export class EndedRuns {
  readonly #dependencies: EndedRunsDependencies;

  constructor(dependencies: EndedRunsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The response (JSON) for a caller that waits for the ended run. */
  async answer(runId: string): Promise<string> {
    const { store, events } = this.#dependencies;
    const [run, ending] = await Promise.all([store.find(runId), events.ending(runId)]);
    const state = run && needsState({ run, ending }) ? await this.#state(run) : undefined;
    return endedRunResponse({ run, ending, state });
  }

  async #state(run: StoredRun): Promise<RunState | undefined> {
    const thread = await this.#dependencies.threads.get(run.thread_id);
    if (!thread) return undefined;
    const rowStatus = compareWithThread(run, thread);
    if (rowStatus === 'as-it-left-it') return inRow(thread);
    return (await this.#ownState(run)) ?? (rowStatus === 'changed' ? undefined : inRow(thread));
  }

  /** The state at the last checkpoint that the run itself wrote. */
  async #ownState(run: StoredRun): Promise<RunState | undefined> {
    const { store, graphs } = this.#dependencies;
    if (!graphs.has(run.graph_id)) return undefined;
    const checkpointId = await store.lastCheckpoint(run);
    if (checkpointId === undefined) return undefined;
    const { configurable } = runKwargs.parse(run.kwargs).config;
    const graph = await ignoreFactoryError(graphs.make(run.graph_id, { configurable, runtime: readsThread }, 'thread'));
    const place = { thread_id: run.thread_id, checkpoint_ns: '', checkpoint_id: checkpointId };
    const state = await graph?.getState({ configurable: place });
    if (state === undefined) return undefined;
    const interrupts = Object.values(allInterrupts(state.tasks)).flat();
    const waits = state.next.length > 0 || interrupts.length > 0;
    return { values: state.values, waitsFor: waits ? interrupts : undefined };
  }
}

const inRow = ({ status, values, interrupts }: StoredThread): RunState => ({
  values: values ?? null,
  waitsFor: status === 'interrupted' ? Object.values(interrupts).flat() : undefined,
});
