import { ERROR_EVENT, METADATA_EVENT } from '../../contract/agent/stream-event.ts';
import type { LoggedEvent } from '../runs/event-log.ts';
import type { StoredRun } from '../runs/run-row.ts';
import { idAt, timeOf } from './thread-events.ts';
import type { ThreadRuns } from './thread-runs.ts';

/** Data of the event that tells, on the stream of a thread, that a run has ended. */
export const endOf = (runId: string): string => JSON.stringify({ run_id: runId, status: 'run_done' });

/** Data of the event that tells that a run begins. */
export const startOfRun = (runId: string, attempt: number): string => JSON.stringify({ run_id: runId, attempt });

/** What can still be told of a run that has ended and whose events nobody has: which it was, its error, its end. */
export function eventsLeft(run: Pick<StoredRun, 'run_id' | 'attempt' | 'error'>): { event: string; json: string }[] {
  return [
    { event: METADATA_EVENT, json: startOfRun(run.run_id, run.attempt) },
    ...(run.error === null ? [] : [{ event: ERROR_EVENT, json: JSON.stringify(run.error) }]),
    { event: METADATA_EVENT, json: endOf(run.run_id) },
  ];
}

/** How many runs of the past are told of at most. */
const MOST_PAST = 1000;

/** What can still be told of a thread's runs that ended after the event `afterId` and before a time (ms). */
export async function pastOf(
  threadRuns: ThreadRuns,
  threadId: string,
  { afterId, until }: { afterId: number; until: number },
): Promise<LoggedEvent[]> {
  const runs = await threadRuns.endedBetween(threadId, timeOf(afterId), until, MOST_PAST);
  return runs.flatMap((run) => {
    const id = idAt(run.ended_at?.getTime() ?? until);
    // Whatever happens later has a higher number.
    return eventsLeft(run).map((event, at) => ({ ...event, id: Math.min(id + at, idAt(until)) }));
  });
}
