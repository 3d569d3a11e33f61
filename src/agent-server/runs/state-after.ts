import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Graph } from '../graphs/graph.ts';
import { toWire } from '../wire.ts';
import { openTasks } from './open-tasks.ts';
import type { RunEnd } from './run-row.ts';

/**
 * What the thread of a run that stopped in the middle waits for: the interrupts of each task, and whether any node is next.
 *
 * @throws what the database throws while it is away: the state may be read later.
 */
export async function stateAfter(
  graph: Graph,
  threadId: string,
  log: (line: string) => void,
): Promise<Pick<RunEnd, 'interrupts' | 'unfinishedState'>> {
  try {
    const { next, interrupts } = await openTasks(
      graph,
      await graph.getState({ configurable: { thread_id: threadId } }),
    );
    return { interrupts: toWire(interrupts), unfinishedState: next.length > 0 };
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    // The run has ended all the same; only what its thread waits for stays unknown.
    log(`The state of thread ${threadId} could not be read: ${String(error)}`);
    return { interrupts: '{}', unfinishedState: true };
  }
}
