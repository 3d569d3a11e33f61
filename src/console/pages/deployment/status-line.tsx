import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { isInProgress, revisionStatusLabel } from '../../parts/revision-status.ts';
import { duration } from '../../parts/time.tsx';
import { statusTimes, totalMs } from './status-times.ts';

/** The statuses of a revision in a line, each with how long it took; the exact times are in the titles. */
export function StatusTimes({ statuses }: { statuses: HistoryEntry['statuses'] }) {
  const now = Date.now();
  const times = statusTimes(statuses, now);
  const total = totalMs(statuses, now);
  const isRunning = isInProgress(statuses.at(-1)?.status ?? '');
  if (times.length === 0) return null;
  return (
    <ol class="deployment-steps" aria-label="Times">
      {times.map(({ status, at, ms }) => (
        <li key={at + status}>
          <time dateTime={at} title={new Date(at).toLocaleString()}>
            {revisionStatusLabel(status)}
          </time>
          {ms !== undefined && <span class="deployment-ms">{duration(ms)}</span>}
        </li>
      ))}
      {times.length > 1 && total !== undefined && (
        <li class="deployment-total">
          {duration(total)} {isRunning ? 'so far' : 'in all'}
        </li>
      )}
    </ol>
  );
}
