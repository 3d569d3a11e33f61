import { metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { Logger } from '../../../kit/logger.ts';
import { WorkerGone } from '../python/connection.ts';
import { maxExits } from '../python/run-workers.ts';
import type { EventLog } from './event-log.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Runs a graph, and goes on from its last checkpoint where the process that holds it has ended.
 *
 * @param run one attempt, by its number.
 * @throws what the last attempt throws.
 */
export async function despiteDeaths(
  run: (attempt: number) => Promise<void>,
  { plan: { runId, graphId }, attempt: first, events }: { plan: RunPlan; attempt: number; events: EventLog },
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  for (let attempt = first; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (error) {
      const isLast = attempt - first + 1 >= maxExits || signal.aborted;
      if (!(error instanceof WorkerGone) || isLast) throw error;
    }
    log.warn({ runId }, `Run ${runId} of graph "${graphId}" lost its process, and goes on.`);
    events.add(metadataEvent, JSON.stringify({ run_id: runId, attempt: attempt + 1 }));
  }
}
