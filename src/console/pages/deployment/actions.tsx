import { useState } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { call, send } from '../../api/http.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { announce } from '../../parts/toasts.tsx';
import { causeOf } from './cause.ts';
import { FailedTestsWarning, HoldDialog } from './hold-dialog.tsx';
import { Sentence } from './sentence.tsx';

/** What a person wants to do. */
export type Action =
  | { kind: 'redeploy' | 'rollback' | 'interrupt' | 'promote' | 'discard'; entry: HistoryEntry }
  | { kind: 'delete'; entry?: undefined };

interface ActionDialogProps {
  action: Action;
  deployment: Deployment;
  /** Loads everything again, since something has changed. */
  onDone: () => Promise<void>;
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

function RedeployDialog({
  deployment,
  entry,
  isRollback,
  onDone,
  onClose,
}: EntryDialogProps & { isRollback: boolean }) {
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
