import type { Clock } from '../../clock.ts';
import { ERROR_EVENT, METADATA_EVENT } from '../../contract/agent/stream-event.ts';
import { Refusal } from '../refusal.ts';
import type { RemoteRuns, FollowedRun } from './remote-runs.ts';
import { EventLog } from './event-log.ts';
import type { Followable } from './event-log.ts';
import { followFromStored } from './follow-from-stored.ts';
import type { RunExecutor } from './run-executor.ts';
import type { OrphanedRuns } from './orphaned-runs.ts';
import type { RunEvents } from './run-events.ts';
import { isUnfinished } from './run-row.ts';
import type { StoredRun } from './run-row.ts';

/** What it takes to follow runs. */
export interface FollowingParts {
  executor: RunExecutor;
  remoteRuns: RemoteRuns;
  left: OrphanedRuns;
  events: RunEvents;
  clock: Clock;
  log: (line: string) => void;
}

/** Runs for those who wait for them or hear their events: in hand here, in another process, or over. */
export class Following {
  readonly #parts: FollowingParts;

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  /**
   * What a caller who waits for a run is answered, once it has ended, wherever it is carried out.
   *
   * @param execution where this process had the run in hand before the row was read: it may have ended since.
   */
  async ended(run: StoredRun, execution = this.#parts.executor.find(run.run_id)): Promise<string> {
    const { remoteRuns, left } = this.#parts;
    if (execution) return execution.ended;
    return isUnfinished(run) ? remoteRuns.ended({ runId: run.run_id }) : left.answer(run.run_id);
  }

  /**
   * The events of a run, wherever it is carried out: of a resumable one all that are kept, else what happens from now on.
   * Of one that is over it is told which it was, and its error where it failed: silence would look like a good end.
   */
  events(run: StoredRun): Followable {
    const { executor, remoteRuns } = this.#parts;
    const execution = executor.find(run.run_id);
    if (execution?.plan.resumable) return followFromStored(run.run_id, execution.events, this.#parts);
    if (execution) return execution.events;
    const ofWhich = followed(run);
    if (isUnfinished(run) || ofWhich.resumable) return remoteRuns.events(ofWhich);
    const over = new EventLog('until-followed');
    over.add(METADATA_EVENT, JSON.stringify({ run_id: run.run_id, attempt: run.attempt }));
    if (run.error) over.add(ERROR_EVENT, JSON.stringify(run.error));
    over.close();
    return over;
  }

  /** The events of a stateless run that is over, and whose row is gone with it; undefined where none is kept any more. */
  async keptOf(threadId: string, runId: string): Promise<Followable | undefined> {
    const { events, remoteRuns } = this.#parts;
    if (!(await events.areLeft(threadId, runId))) return undefined;
    return remoteRuns.events({ runId, attempt: 1, resumable: true });
  }

  /** @throws Refusal where a run's events after this number are not all kept any more. */
  async mustBeKept(run: Pick<StoredRun, 'run_id'>, after: number): Promise<void> {
    const dropped = await this.#parts.events.droppedAfter(run.run_id, after);
    if (dropped === undefined) return;
    const msg = `the events of this run up to ${dropped} are not kept any more: ask for those after ${dropped}, or after -1 for all that are kept`;
    throw new Refusal(422, [{ loc: ['header', 'Last-Event-ID'], msg, type: 'value_error' }]);
  }
}

/** What it takes to follow a run of another process. */
const followed = (run: StoredRun): FollowedRun => ({
  runId: run.run_id,
  attempt: run.attempt,
  resumable: run.kwargs['resumable'] === true,
});
