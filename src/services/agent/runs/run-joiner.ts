import { stackOf } from '../../../kit/errors.ts';
import { errorEvent, metadataEvent } from '../../../contract/agent/stream-event.ts';
import { invalidAt } from '../refusal.ts';
import { EventLog, type Followable } from './event-log.ts';
import type { RunExecutor } from './run-executor.ts';
import type { EndedRuns } from './ended-run.ts';
import type { RunDependencies } from './dependencies.ts';
import { isUnfinished, type StoredRun } from './run-row.ts';
import { retryWhileDatabaseDown } from '../storage/retry-policy.ts';

type FollowingDependencies = Pick<RunDependencies, 'remoteRuns' | 'events' | 'clock' | 'log'> & {
  executor: RunExecutor;
  left: EndedRuns;
};

/** Waits for runs and streams them, in this process, in another one, or ended. */
export const runJoiner = ({ executor, remoteRuns, left, events, clock, log }: FollowingDependencies) => ({
  /** The response for a waiting caller. `execution` is looked up before the row is read: the run may end meanwhile. */
  async ended(run: StoredRun, execution = executor.find(run.run_id)): Promise<string> {
    if (execution) return execution.ended;
    return isUnfinished(run) ? remoteRuns.ended({ runId: run.run_id }) : left.answer(run.run_id);
  },

  /**
   * The events of a run in any process: of a resumable one all that are kept, else new ones. For an ended run: its
   * metadata, and its error if it failed, since an empty stream would look like success.
   */
  events(run: StoredRun): Followable {
    const execution = executor.find(run.run_id);
    if (execution?.plan.resumable) return followFromStored(run.run_id, execution.events, { events, clock, log });
    if (execution) return execution.events;
    const resumable = run.kwargs['resumable'] === true;
    if (isUnfinished(run) || resumable)
      return remoteRuns.events({ runId: run.run_id, attempt: run.attempt, resumable });
    const over = new EventLog('until-followed');
    over.add(metadataEvent, JSON.stringify({ run_id: run.run_id, attempt: run.attempt }));
    if (run.error) over.add(errorEvent, JSON.stringify(run.error));
    over.close();
    return over;
  },

  /** The stored events of an ended stateless run, whose row is gone; undefined if there are none. */
  async keptOf(threadId: string, runId: string): Promise<Followable | undefined> {
    if (!(await events.areLeft(threadId, runId))) return undefined;
    return remoteRuns.events({ runId, attempt: 1, resumable: true });
  },

  /** @throws Refusal if some of a run's events after this number have been pruned. */
  async mustBeKept(runId: string, after: number): Promise<void> {
    const dropped = await events.droppedAfter(runId, after);
    if (dropped === undefined) return;
    const msg = `the events of this run up to ${dropped} are not kept any more: ask for those after ${dropped}, or after -1 for all that are kept`;
    throw invalidAt(['header', 'Last-Event-ID'], msg);
  },
});
export type RunJoiner = ReturnType<typeof runJoiner>;

/** The events of a resumable run of this process: events that its log does not have are read from the database. */
function followFromStored(
  runId: string,
  log: EventLog,
  { events, clock, log: complain }: Pick<FollowingDependencies, 'events' | 'clock' | 'log'>,
): Followable {
  return {
    follow(follower, afterId = -1) {
      if (afterId + 1 >= log.complete) return log.follow(follower, afterId);
      const stopped = new AbortController();
      let unfollow = (): void => stopped.abort();
      let after = afterId;
      /** @returns whether there were any. */
      const readSome = async (): Promise<boolean> => {
        const { complete } = log;
        const [page] = await retryWhileDatabaseDown(() => events.after([{ runId, after }]), clock, stopped.signal);
        const missed = (page?.events ?? []).filter(({ id }) => id < complete);
        for (const event of missed) if (!stopped.signal.aborted) follower(event);
        after = missed.at(-1)?.id ?? after;
        return missed.length > 0;
      };
      const read = async (): Promise<void> => {
        while (!stopped.signal.aborted && after + 1 < log.complete && (await readSome()));
      };
      const goOn = (): void => {
        if (!stopped.signal.aborted) unfollow = log.follow(follower, after);
      };
      read()
        // Continues with new events if the old ones can't be read.
        .catch((error: unknown) => {
          if (!stopped.signal.aborted)
            complain.error({ runId }, `Events of run ${runId} can't be read: ${stackOf(error)}`);
        })
        .finally(goOn);
      return () => unfollow();
    },
  };
}
