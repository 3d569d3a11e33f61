import { useState } from 'preact/hooks';
import type { Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { send } from '../../api/http.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { announce } from '../../parts/toasts.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';

interface HoldDialogProps {
  deployment: Deployment;
  entry: HistoryEntry;
  decision: 'promote' | 'discard';
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Decides about a held revision: it gets the traffic, or ends. */
export function HoldDialog({ deployment, entry, decision, onDone, onClose }: HoldDialogProps) {
  const [headers] = useState({ [idempotencyKeyHeader]: crypto.randomUUID() });
  const [why, setWhy] = useState('');
  const { id } = entry.revision;
  const short = shortId(id);
  const { active_revision_id } = deployment;
  const serving = active_revision_id === null ? undefined : shortId(active_revision_id);
  const isPromotion = decision === 'promote';
  const confirm = async (): Promise<void> => {
    const body = why.trim() === '' ? {} : { why: why.trim() };
    await send('POST', `v2/deployments/${deployment.id}/revisions/${id}/${decision}`, { headers, body });
    announce(isPromotion ? `Promoted revision ${short}.` : `Discarded revision ${short}.`);
    await onDone();
  };
  return (
    <ConfirmDialog
      title={isPromotion ? `Promote ${short}` : `Discard ${short}`}
      action={isPromotion ? 'Promote' : 'Discard'}
      isDangerous={!isPromotion}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        {isPromotion
          ? `Switches the traffic to revision ${short}. ${serving ? `Requests to ${serving} end there; new ones go to ${short}.` : 'No revision is live at the moment.'}`
          : `Stops revision ${short} before it gets traffic, with its unfinished runs. ${serving ? `The live revision ${serving} keeps serving.` : 'No revision is live at the moment.'} A redeploy makes a new one.`}
      </p>
      {isPromotion && <FailedTestsWarning entry={entry} />}
      <TextField
        label="Reason"
        hint="Optional. The timeline and the log show it."
        value={why}
        maxLength={1_000}
        onInput={setWhy}
      />
    </ConfirmDialog>
  );
}

const mostNames = 3;

/** Warns before traffic goes to a revision whose smoke tests failed or proved nothing; nothing where they passed. */
export function FailedTestsWarning({ entry: { verdict } }: { entry: Pick<HistoryEntry, 'verdict'> }) {
  if (verdict === null || verdict.kind === 'passed') return null;
  const isFailed = verdict.kind === 'failed';
  const missed = verdict.tests.filter(({ kind }) => kind === verdict.kind);
  const rest = missed.length - mostNames;
  return (
    <div class="notice notice-error deployment-warning" role="note">
      <p>
        <strong>{isFailed ? 'Its smoke tests failed' : 'Its smoke tests proved nothing'}</strong>{' '}
        <TimeAgo at={verdict.created_at} />
        {missed.length > 0 && ': '}
        {missed.slice(0, mostNames).map(({ name }, index) => (
          <>
            {index > 0 && ', '}
            <Untrusted key={index} text={name} longest={80} />
          </>
        ))}
        {rest > 0 && ` and ${rest} more`}.
      </p>
    </div>
  );
}
