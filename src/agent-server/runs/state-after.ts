import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Graph } from '../graphs/graph.ts';
import { toWire } from '../wire.ts';
import { openTasks } from './open-tasks.ts';
import type { RunEnd } from './run-row.ts';
import type { Logger } from '../../logger.ts';

/**
 * The interrupts of each task after a run stopped, and whether a node is next.
 *
 * @throws the database's error while it is unavailable: the state can be read later.
 */
export async function stateAfter(
  graph: Graph,
  threadId: string,
  log: Logger,
): Promise<Pick<RunEnd, 'interrupts' | 'unfinishedState'>> {
  try {
    const { next, interrupts } = await openTasks(
      graph,
      await graph.getState({ configurable: { thread_id: threadId } }),
    );
    return { interrupts: toWire(interrupts), unfinishedState: next.length > 0 };
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    // The run has ended anyway; only its thread's interrupts stay unknown.
    log.error({ threadId }, `The state of thread ${threadId} could not be read: ${String(error)}`);
    return { interrupts: '{}', unfinishedState: true };
  }
}
