import { useState } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { call, send } from '../../api/http.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { announce } from '../../parts/toasts.tsx';
import { causeOf } from './cause.ts';
import { Sentence } from './sentence.tsx';
import { TextField } from '../../parts/field.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';

/** What a person wants to do. */
export type Action =
  | { kind: 'redeploy' | 'rollback' | 'interrupt' | 'promote' | 'discard'; entry: HistoryEntry }
  | { kind: 'delete'; entry?: undefined };

interface ActionDialogProps {
  action: Action;
  deployment: Deployment;
  /** Loads everything again, since something has changed. */
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

/** Says what an action will do, and does it. */
export function ActionDialog(props: ActionDialogProps) {
  const { action } = props;
  if (action.kind === 'delete') return <DeleteDialog {...props} />;
  if (action.kind === 'promote' || action.kind === 'discard') {
    return <HoldDialog {...props} entry={action.entry} decision={action.kind} />;
  }
  if (action.kind === 'interrupt') return <InterruptDialog {...props} entry={action.entry} />;
  return <RedeployDialog {...props} entry={action.entry} isRollback={action.kind === 'rollback'} />;
}

/** The idempotency key; one for each dialog, so that a retry does not write twice. */
const useIdempotencyKey = (): Record<string, string> => useState({ [idempotencyKeyHeader]: crypto.randomUUID() })[0];

type EntryDialogProps = ActionDialogProps & { entry: HistoryEntry };

type RedeployDialogProps = EntryDialogProps & { isRollback: boolean };

function RedeployDialog({ deployment, entry, isRollback, onDone, onClose }: RedeployDialogProps) {
  const key = useIdempotencyKey();
  // The revision that the user saw: if there is a newer one, the service rejects the change.
  const [ifMatch] = useState(deployment.latest_revision_id);
  const { id } = entry.revision;
  const confirm = async (): Promise<void> => {
    const path = `v2/deployments/${deployment.id}/revisions/${id}/redeploy`;
    const headers = { ...key, ...(ifMatch === null ? {} : { 'if-match': ifMatch }) };
    const changed = await call('POST', path, deploymentSchema, { headers });
    announce(`Created revision ${shortId(changed.latest_revision_id ?? '')}.`);
    await onDone();
  };
  return (
    <ConfirmDialog
      title={isRollback ? `Roll back to ${shortId(id)}` : `Redeploy ${shortId(id)}`}
      action={isRollback ? 'Roll back' : 'Redeploy'}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        Creates a new revision from the build of <code>{shortId(id)}</code> (
        <Sentence parts={causeOf(entry).headline} deploymentId={deployment.id} />
        ). Nothing is built again.{' '}
        {isRollback && 'The settings, resources and secrets of that revision become those of the deployment.'}
      </p>
      <FailedTestsWarning entry={entry} />
      <p>{servesMeanwhile(deployment, 'until the new one is ready')}</p>
    </ConfirmDialog>
  );
}

function InterruptDialog({ deployment, entry, onDone, onClose }: EntryDialogProps) {
  const headers = useIdempotencyKey();
  const { id } = entry.revision;
  const confirm = async (): Promise<void> => {
    await send('POST', `v2/deployments/${deployment.id}/revisions/${id}/interruption`, { headers });
    announce(`Interrupted revision ${shortId(id)}.`);
    await onDone();
  };
  return (
    <ConfirmDialog
      title={`Interrupt ${shortId(id)}`}
      action="Interrupt"
      isDangerous
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        Stops the build or the deploy of revision <code>{shortId(id)}</code>. It does not start again by itself; a
        redeploy or a change makes a new revision.
      </p>
      <p>{servesMeanwhile(deployment, 'on')}</p>
    </ConfirmDialog>
  );
}

const servesMeanwhile = ({ active_revision_id }: Deployment, until: string): string =>
  active_revision_id === null
    ? 'No revision is live at the moment.'
    : `The live revision ${shortId(active_revision_id)} keeps serving${until === 'on' ? '' : ` ${until}`}.`;

function DeleteDialog({ deployment, onDone, onClose }: ActionDialogProps) {
  const headers = useIdempotencyKey();
  const [deletesTraces, setDeletesTraces] = useState(false);
  const confirm = async (): Promise<void> => {
    const query = { delete_tracing_project: deletesTraces };
    await send('DELETE', `v2/deployments/${deployment.id}`, { headers, query });
    announce('The deployment is being deleted.');
    await onDone();
  };
  return (
    <ConfirmDialog
      title="Delete the deployment"
      action="Delete"
      isDangerous
      typed={deployment.name}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        Stops the agent and deletes its revisions, builds, logs, threads, runs and secrets. Its address stops
        responding. This cannot be undone.
      </p>
      <label class="check deployment-check">
        <input
          type="checkbox"
          checked={deletesTraces}
          onChange={(event) => setDeletesTraces(event.currentTarget.checked)}
        />
        <span>
          Delete its traces too.
          <span class="field-hint"> If you keep them, the name cannot be reused.</span>
        </span>
      </label>
    </ConfirmDialog>
  );
}

type HoldDialogProps = EntryDialogProps & { decision: 'promote' | 'discard' };

/** Decides about a held revision: it gets the traffic, or ends. */
function HoldDialog({ deployment, entry, decision, onDone, onClose }: HoldDialogProps) {
  const headers = useIdempotencyKey();
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
function FailedTestsWarning({ entry: { verdict } }: { entry: Pick<HistoryEntry, 'verdict'> }) {
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
