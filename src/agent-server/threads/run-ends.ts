import { errorEvent, metadataEvent } from '../../contract/agent/stream-event.ts';
import type { LoggedEvent } from '../runs/event-buffer.ts';
import type { StoredRun } from '../runs/run-row.ts';
import { idAt, timeOf } from './thread-events.ts';
import type { ThreadRuns } from './thread-runs.ts';

/** The data of the event that reports the end of a run on its thread's stream. */
export const endOf = (runId: string): string => JSON.stringify({ run_id: runId, status: 'run_done' });

/** The data of the event that reports the start of a run. */
export const startOfRun = (runId: string, attempt: number): string => JSON.stringify({ run_id: runId, attempt });

/** The events for an ended run whose own events are gone: its metadata, its error, its end. */
export function eventsLeft(run: Pick<StoredRun, 'run_id' | 'attempt' | 'error'>): { event: string; json: string }[] {
  return [
    { event: metadataEvent, json: startOfRun(run.run_id, run.attempt) },
    ...(run.error === null ? [] : [{ event: errorEvent, json: JSON.stringify(run.error) }]),
    { event: metadataEvent, json: endOf(run.run_id) },
  ];
}

/** The maximum number of past runs to report. */
const mostPast = 1000;

/** The events for a thread's runs that ended after the event `afterId` and before a time (ms). */
export async function pastOf(
  threadRuns: ThreadRuns,
  threadId: string,
  { afterId, until }: { afterId: number; until: number },
): Promise<LoggedEvent[]> {
  const runs = await threadRuns.endedBetween(threadId, timeOf(afterId), until, mostPast);
  return runs.flatMap((run) => {
    const id = idAt(run.ended_at?.getTime() ?? until);
    // Later events have higher numbers.
    return eventsLeft(run).map((event, at) => ({ ...event, id: Math.min(id + at, idAt(until)) }));
  });
}
