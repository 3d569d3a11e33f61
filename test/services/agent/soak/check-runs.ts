import type { Pool } from 'pg';
import type { Heard } from './receiver.ts';
import type { SentRun } from './run-ledger.ts';
import type { Worker } from './worker.ts';

/** A run's row. */
export interface Row {
  run_id: string;
  thread_id: string;
  mark: string | null;
  cron_id: string | null;
  status: string;
  error: string | null;
  attempt: number;
  hooked: boolean;
}

export const rowsOf = async (database: Pool): Promise<Row[]> =>
  (
    await database.query<Row>(
      `select run_id, thread_id, metadata ->> 'mark' as mark, metadata ->> 'cron_id' as cron_id, status,
        error ->> 'error' as error, attempt, kwargs ->> 'webhook' is not null as hooked
      from runs order by sequence`,
    )
  ).rows;

/** The run status for a reported outcome; undefined if it says nothing about the status. */
function reportedStatus(reply: string): string | undefined {
  if (reply === 'RunCancelled' || reply === 'ServerStopped') return 'interrupted';
  if (reply === 'RequestedFailure' || reply === 'WorkerGone') return 'error';
  return reply === 'ResultNotKept' ? undefined : reply;
}

/** Whether the run failed because its processes died three times: servers, or workers in Python. */
const isGivenUp = ({ attempt, error }: Row): boolean =>
  (attempt >= 3 && error === 'ServerStopped') || error === 'WorkerGone';

/** Faults of the requested runs: each must exist, end once, and end as expected and as its callers saw. */
export function problemsOfRuns(sent: readonly SentRun[], rows: readonly Row[]): string[] {
  const byMark = Map.groupBy(rows, ({ mark }) => mark);
  return sent.flatMap((run) => {
    const found = byMark.get(run.mark) ?? [];
    const [row] = found;
    if (found.length > 1) return [`${run.mark} was started ${found.length} times`];
    if (row === undefined) return isMissed(run) ? [`${run.mark} was accepted and is gone`] : reply(run);
    if (run.refused) return [`${run.mark} was refused, and there it is`];
    if (run.sure && row.status !== run.end && !isGivenUp(row))
      return [`${run.mark} is ${row.status} (${row.error}) after attempt ${row.attempt}, without an interruption`];
    return reply(run, row);
  });
}

const isMissed = (run: SentRun): boolean =>
  run.accepted && run.threadId !== undefined && !run.mayBeUndone && !run.isDeleted;

/** Whether every caller saw the same outcome, and it is the stored one. */
function reply(run: SentRun, row?: Row): string[] {
  // A run that was given up is an error, and its stream names the same cause as that of an interrupted one.
  const isGone = row === undefined && run.reply.includes('error');
  const replies = isGone ? run.reply.filter((each) => each !== 'ServerStopped') : run.reply;
  const statuses = new Set(replies.flatMap((each) => reportedStatus(each) ?? []));
  if (row && isGivenUp(row)) return [];
  const isSame = statuses.size === 0 || (statuses.size === 1 && (row === undefined || statuses.has(row.status)));
  return isSame
    ? []
    : [`${run.mark} was reported as ${run.reply.join()}, and is stored as ${row?.status} (${row?.error})`];
}

/** Faults of the webhooks: each outcome must be delivered with the right status. */
export function problemsOfHooks(
  workers: readonly Worker[],
  rows: readonly Row[],
  heard: ReadonlyMap<string, Heard>,
): string[] {
  const ofRows = rows.flatMap(({ run_id, mark, hooked, status }) => {
    const { taken = 0, statuses = [] } = heard.get(run_id) ?? {};
    if (hooked && taken === 0) return [`no webhook of ${mark} (${status}) arrived`];
    return statuses.some((each) => each !== status)
      ? [`${mark} is ${status}, and was reported as ${statuses.join()}`]
      : [];
  });
  const stateless = workers.flatMap(({ runs }) => runs.all.filter((run) => run.threadId === undefined && run.hooked));
  const ofStateless = stateless.flatMap((run) => {
    const { taken = 0, statuses = [], isGivenUp: wasGivenUp = false } = heard.get(run.runId ?? '') ?? {};
    if (run.accepted && taken === 0) return [`no webhook of the stateless ${run.mark} arrived`];
    if (run.sure && !wasGivenUp && statuses.some((status) => status !== run.end))
      return [`the stateless ${run.mark} was reported as ${statuses.join()}`];
    return [];
  });
  const twice = [...heard].flatMap(([id, { statuses }]) =>
    new Set(statuses).size > 1 ? [`run ${id} was reported as ${statuses.join()}`] : [],
  );
  return [...ofRows, ...ofStateless, ...twice];
}

/** Faults of the crons: one run each time that one was due. */
export function problemsOfFirings(workers: readonly Worker[], rows: readonly Row[]): string[] {
  const started = Map.groupBy(rows, ({ cron_id }) => cron_id);
  return workers.flatMap(({ firings }) =>
    [...firings].flatMap(([id, due]) => {
      const runs = started.get(id)?.length ?? 0;
      return runs === due ? [] : [`the cron ${id} was due ${due} times, and made ${runs} runs`];
    }),
  );
}
