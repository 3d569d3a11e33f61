import type { PoolClient } from 'pg';
import {
  isStateful,
  nodePath,
  subgraphAt,
  type EngineUpdate,
  type StateConfig,
  type StatefulGraph,
} from '../graphs/stateful.ts';
import type { Graph, Snapshot } from '../graphs/graph.ts';
import { WorkerGone } from '../graphs/python/connection.ts';
import { Refusal, unacceptable, invalidAt } from '../refusal.ts';
import { openTasks, type OpenTasks } from '../runs/open-tasks.ts';
import { describeError } from '../runs/run-error.ts';
import { toWire } from '../wire.ts';
import type { SingleClientPool } from '../storage/transaction.ts';

/** One step: the results of its parallel nodes. */
export interface Step {
  updates: EngineUpdate[];
}

/** The key under which a subgraph receives the checkpointer of its parent. */
const checkpointerKey = '__pregel_checkpointer';

/**
 * Writes states as if nodes had returned them, after the state that `place` names.
 *
 * @param place the engine's `configurable`: thread, namespace, checkpoint.
 * @returns the configuration of the new state.
 */
export async function writeSteps(
  graph: StatefulGraph,
  place: Record<string, unknown>,
  steps: readonly Step[],
): Promise<StateConfig> {
  const namespace = place['checkpoint_ns'];
  const withNulls = steps.map(({ updates }) => ({
    // The engine expects null for an empty result.
    updates: updates.map(({ values, asNode }) => ({ values: values ?? null, asNode })),
  }));
  if (typeof namespace !== 'string' || namespace === '') {
    return graph.bulkUpdateState({ configurable: place }, withNulls);
  }
  // The engine itself would use the outermost graph of the path.
  const inner = await subgraphAt(graph, nodePath(namespace));
  if (inner === undefined || !isStateful(inner)) {
    throw invalidAt(['body', 'checkpoint', 'checkpoint_ns'], noSubgraph);
  }
  return inner.bulkUpdateState({ configurable: { ...place, [checkpointerKey]: graph.checkpointer } }, withNulls);
}

const noSubgraph = 'is no namespace of a graph inside this one';

/** Updates a thread's row for its newest state: it is `interrupted` if the state has a next node, else `idle`. */
export async function saveThreadState(
  client: PoolClient,
  graph: Graph,
  { threadId, now }: { threadId: string; now: number },
): Promise<{ state: Snapshot; open: OpenTasks }> {
  const state = await graph.getState({ configurable: { thread_id: threadId } });
  const open = await openTasks(graph, state);
  await client.query(updateThread, [
    threadId,
    state.createdAt === undefined ? null : toWire(state.values),
    toWire(open.interrupts),
    open.next.length > 0 ? 'interrupted' : 'idle',
    new Date(now),
  ]);
  return { state, open };
}

const updateThread = `
  update threads
  set "values" = $2::json, interrupts = $3::json, status = $4, state_updated_at = $5, updated_at = $5
  where thread_id = $1`;

/** Applies values of a request: the graph's error rejects them, unless a statement failed. @throws Refusal 422. */
export async function asRefused<T>(pool: Pick<SingleClientPool, 'failure'>, take: () => Promise<T>): Promise<T> {
  try {
    return await take();
  } catch (thrown) {
    if (pool.failure) throw pool.failure;
    // Nor is it the values' fault that the process of the graph has ended.
    if (thrown instanceof Refusal || thrown instanceof WorkerGone) throw thrown;
    const { error, message } = describeError(thrown);
    const isAboutNode = error === 'InvalidUpdateError' && /\bnode\b|asNode/i.test(message);
    const field = isAboutNode ? 'as_node' : 'values';
    throw unacceptable(field, `${error}: ${message}`);
  }
}
