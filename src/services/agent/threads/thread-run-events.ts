import { errorEvent, metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { LoggedEvent, Follower } from '../runs/event-log.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Storage } from '../storage/open.ts';
import { idAt, timeOf, type ThreadEvents } from './thread-events.ts';
import { runsEndedBetween } from './thread-runs.ts';

/** The data of the event that reports the end of a run on its thread's stream. */
export const endOfRun = (runId: string): string => JSON.stringify({ run_id: runId, status: 'run_done' });

/** The data of the event that reports the start of a run. */
export const startOfRun = (runId: string, attempt: number): string => JSON.stringify({ run_id: runId, attempt });

/** The events for an ended run whose own events are gone: its metadata, its error, its end. */
export function summaryOfRun(run: Pick<StoredRun, 'run_id' | 'attempt' | 'error'>): { event: string; json: string }[] {
  return [
    { event: metadataEvent, json: startOfRun(run.run_id, run.attempt) },
    ...(run.error === null ? [] : [{ event: errorEvent, json: JSON.stringify(run.error) }]),
    { event: metadataEvent, json: endOfRun(run.run_id) },
  ];
}

/** The maximum number of past runs to report. */
const maxEndedRuns = 1000;

/** The events for a thread's runs that ended after the event `afterId` and before a time (ms). */
export async function eventsOfEndedRuns(
  storage: Storage,
  threadId: string,
  { afterId, until }: { afterId: number; until: number },
): Promise<LoggedEvent[]> {
  const runs = await runsEndedBetween(storage, threadId, timeOf(afterId), until, maxEndedRuns);
  return runs.flatMap((run) => {
    const id = idAt(run.ended_at?.getTime() ?? until);
    // Later events have higher numbers.
    return summaryOfRun(run).map((event, at) => ({ ...event, id: Math.min(id + at, idAt(until)) }));
  });
}

/** A run whose events go to the stream of its thread. */
export interface Subscription {
  unsubscribe: () => void;
  /** Reports the start of a run that waits for its turn. */
  reportStart?: (() => void) | undefined;
  /** When it has ended (ms). */
  endedAt?: number;
}

/** A thread with followers, now or recently. */
export interface FollowedThread {
  events: ThreadEvents;
  openedAt: number;
  /** When its last follower disconnected; undefined while there is one. */
  unfollowedAt: number | undefined;
  runs: Map<string, Subscription>;
  /** Up to which time (ms) manual updates have been reported. */
  updatedAt: number;
}

/** Delivers past events once they are read, or calls `complain`; then those of `follow`. @returns unsubscribes. */
export function followAfter(
  past: Promise<readonly LoggedEvent[]>,
  follow: (follower: Follower) => () => void,
  notify: Follower,
  complain: (error: unknown) => void,
): () => void {
  let waiting: Parameters<Follower>[0][] | undefined = [];
  const unfollow = follow((event) => {
    if (waiting) waiting.push(event);
    else notify(event);
  });
  past
    .then((events) => events.forEach(notify))
    .catch(complain)
    .finally(() => {
      waiting?.forEach(notify);
      waiting = undefined;
    });
  return unfollow;
}
