import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { paths } from '../../paths.ts';
import { Badge } from '../../parts/badge.tsx';
import { isInProgress, revisionStatusTone, shortId, revisionStatusLabel, duration } from '../../parts/words.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import type { Action } from './actions.tsx';
import { changedFieldText, hasServed, isWithoutSource } from './cause.ts';
import { HoldNotice } from './hold-notice.tsx';
import { holdOf, statusLabel, statusTimes, totalMs } from './revision-state.ts';
import { CauseText } from './sentence.tsx';
import { VerdictEvidence } from './verdict-evidence.tsx';
import { Button } from '../../parts/button.tsx';

interface TimelineEntryProps {
  deploymentId: string;
  entry: HistoryEntry;
  isLatest: boolean;
  /** False while the deployment is being deleted, when no action is allowed. */
  canAct: boolean;
  onAction: (action: Action) => void;
}

/** One revision: its cause, its outcome, and its actions. */
export function TimelineEntry({ deploymentId, entry, isLatest, canAct, onAction }: TimelineEntryProps) {
  const { revision, changed_fields, verdict } = entry;
  const short = shortId(revision.id);
  const hasSource = !isWithoutSource(entry);
  const isWaiting = !hasSource && isInProgress(revision.status);
  const served = hasServed(entry);
  const hold = holdOf(entry)?.kind;
  return (
    <li
      class={`surface stack deployment-entry ${entry.is_live ? 'deployment-entry-live' : ''}`}
      aria-label={`Revision ${short}`}
    >
      <div class="row deployment-entry-head">
        <Badge tone={isWaiting ? 'warn' : revisionStatusTone(revision.status)}>
          {isWaiting ? 'No source yet' : statusLabel(entry)}
        </Badge>
        {entry.is_live && <span class="tag deployment-live tone-good">Live</span>}
        {served && !entry.is_live && <span class="tag deployment-live tone-idle">Previously live</span>}
        <a class="mono" href={paths.revision(deploymentId, revision.id)} aria-label={`Revision ${short}, its logs`}>
          {short}
        </a>
        <span class="muted">{revision.created_at !== undefined && <TimeAgo at={revision.created_at} />}</span>
        <span class="actions end">
          {canAct && isInProgress(revision.status) && hold !== 'held' && (
            <Button label={`Interrupt revision ${short}`} onClick={() => onAction({ kind: 'interrupt', entry })}>
              Interrupt
            </Button>
          )}
          {canAct && !isLatest && !entry.is_live && served && entry.can_redeploy && (
            <Button label={`Roll back to revision ${short}`} onClick={() => onAction({ kind: 'rollback', entry })}>
              Roll back
            </Button>
          )}
        </span>
      </div>
      <CauseText entry={entry} deploymentId={deploymentId} />
      {revision.status_message && hasSource && (
        <p class="sunken">
          <Untrusted text={revision.status_message} longest={600} />
        </p>
      )}
      {canAct && <HoldNotice deploymentId={deploymentId} entry={entry} onAction={onAction} />}
      {hasSource && <StatusTimes statuses={entry.statuses} />}
      {changed_fields.length > 0 && <ChangedFields fields={changed_fields} />}
      {verdict !== null && <VerdictEvidence verdict={verdict} />}
    </li>
  );
}

const maxShownFields = 12;

function ChangedFields({ fields }: { fields: readonly string[] }) {
  return (
    <p class="row deployment-fields">
      <span class="muted">Changed: </span>
      {fields.slice(0, maxShownFields).map((field) => (
        <code key={field}>
          <Untrusted text={changedFieldText(field)} longest={100} />
        </code>
      ))}
      {fields.length > maxShownFields && <span class="muted">and {fields.length - maxShownFields} more</span>}
    </p>
  );
}

/** The statuses of a revision in a line with their durations. The exact times are in the titles. */
function StatusTimes({ statuses }: { statuses: HistoryEntry['statuses'] }) {
  const now = Date.now();
  const times = statusTimes(statuses, now);
  const total = totalMs(statuses, now);
  const isRunning = isInProgress(statuses.at(-1)?.status ?? '');
  if (times.length === 0) return null;
  return (
    <ol class="plain row muted deployment-steps" aria-label="Times">
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
