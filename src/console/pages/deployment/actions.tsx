import { useState } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { send } from '../../api/http.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { shortId } from '../../parts/words.ts';
import { announce } from '../../parts/toasts.tsx';
import { causeOf } from './cause.ts';
import { Sentence } from './sentence.tsx';
import { TextField } from '../../parts/field.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';

/** An action that a person requests. */
export type Action =
  | { kind: 'redeploy' | 'rollback' | 'interrupt' | 'promote' | 'discard'; entry: HistoryEntry }
  | { kind: 'delete'; entry?: undefined };

interface ActionDialogProps {
  action: Action;
  deployment: Deployment;
  /** Loads everything again after the change. */
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

/** Explains an action and carries it out on confirmation. */
export const ActionDialog = (props: ActionDialogProps) =>
  props.action.kind === 'delete' ? <DeleteDialog {...props} /> : <RevisionDialog {...props} action={props.action} />;

/** The idempotency key; one for each dialog, so that a retry does not write twice. */
const useIdempotencyKey = (): Record<string, string> => useState({ [idempotencyKeyHeader]: crypto.randomUUID() })[0];

type RevisionAction = Extract<Action, { entry: HistoryEntry }>;

/** The texts of each action, and the end of its path. */
const revisionActions: Readonly<Record<RevisionAction['kind'], { verb: string; done: string; path: string }>> = {
  redeploy: { verb: 'Redeploy', done: 'Created', path: 'redeploy' },
  rollback: { verb: 'Roll back', done: 'Created', path: 'redeploy' },
  interrupt: { verb: 'Interrupt', done: 'Interrupted', path: 'interruption' },
  promote: { verb: 'Promote', done: 'Promoted', path: 'promote' },
  discard: { verb: 'Discard', done: 'Discarded', path: 'discard' },
};

function RevisionDialog({ action, deployment, onDone, onClose }: ActionDialogProps & { action: RevisionAction }) {
  const { kind, entry } = action;
  const key = useIdempotencyKey();
  // The revision that the user saw: if there is a newer one, the service rejects the change.
  const [ifMatch] = useState(deployment.latest_revision_id);
  const [why, setWhy] = useState('');
  const short = shortId(entry.revision.id);
  const { verb, done, path } = revisionActions[kind];
  const isDeploy = path === 'redeploy';
  const isDecision = kind === 'promote' || kind === 'discard';
  const confirm = async (): Promise<void> => {
    const response = await send('POST', `v2/deployments/${deployment.id}/revisions/${entry.revision.id}/${path}`, {
      headers: { ...key, ...(isDeploy && ifMatch !== null ? { 'if-match': ifMatch } : {}) },
      ...(isDecision ? { body: why.trim() === '' ? {} : { why: why.trim() } } : {}),
    });
    const revisionId = isDeploy ? deploymentSchema.parse(await response.json()).latest_revision_id : entry.revision.id;
    announce(`${done} revision ${shortId(revisionId ?? '')}.`);
    await onDone();
  };
  return (
    <ConfirmDialog
      title={`${verb}${kind === 'rollback' ? ' to' : ''} ${short}`}
      action={verb}
      isDangerous={kind === 'interrupt' || kind === 'discard'}
      onConfirm={confirm}
      onClose={onClose}
    >
      <Consequences action={action} deployment={deployment} />
      {kind !== 'interrupt' && kind !== 'discard' && <FailedTestsWarning entry={entry} />}
      {!isDecision && <p>{servesMeanwhile(deployment, isDeploy ? ' until the new one is ready' : '')}</p>}
      {isDecision && (
        <TextField
          label="Reason"
          hint="Optional. The timeline and the log show it."
          value={why}
          maxLength={1_000}
          onInput={setWhy}
        />
      )}
    </ConfirmDialog>
  );
}

/** Explains the consequences of an action. */
function Consequences({ action: { kind, entry }, deployment }: { action: RevisionAction; deployment: Deployment }) {
  const short = shortId(entry.revision.id);
  if (kind === 'promote') {
    const { active_revision_id: serving } = deployment;
    const end = serving === null ? noneLive : `Requests to ${shortId(serving)} end there; new ones go to ${short}.`;
    return (
      <p>
        Switches the traffic to revision {short}. {end}
      </p>
    );
  }
  if (kind === 'discard') {
    return (
      <p>
        Stops revision {short} before it gets traffic, with its unfinished runs. {servesMeanwhile(deployment)} A
        redeploy makes a new one.
      </p>
    );
  }
  if (kind === 'interrupt') {
    return (
      <p>
        Stops the build or the deploy of revision <code>{short}</code>. It does not start again by itself; a redeploy or
        a change makes a new revision.
      </p>
    );
  }
  return (
    <p>
      Creates a new revision from the build of <code>{short}</code> (
      <Sentence parts={causeOf(entry).headline} deploymentId={deployment.id} />
      ). Nothing is built again.{' '}
      {kind === 'rollback' && 'The settings, resources and secrets of that revision become those of the deployment.'}
    </p>
  );
}

const noneLive = 'No revision is live at the moment.';

const servesMeanwhile = ({ active_revision_id }: Deployment, until = ''): string =>
  active_revision_id === null ? noneLive : `The live revision ${shortId(active_revision_id)} keeps serving${until}.`;

function DeleteDialog({ deployment, onDone, onClose }: ActionDialogProps) {
  const headers = useIdempotencyKey();
  const [deletesTraces, setDeletesTraces] = useState(false);
  const query = { delete_tracing_project: deletesTraces };
  return (
    <ConfirmDialog
      title="Delete the deployment"
      action="Delete"
      isDangerous
      typed={deployment.name}
      onConfirm={() => send('DELETE', `v2/deployments/${deployment.id}`, { headers, query })}
      done="The deployment is being deleted."
      onDone={onDone}
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

const maxNames = 3;

/** Warns before traffic goes to a revision whose smoke tests did not pass. */
function FailedTestsWarning({ entry: { verdict } }: { entry: Pick<HistoryEntry, 'verdict'> }) {
  if (verdict === null || verdict.kind === 'passed') return null;
  const isFailed = verdict.kind === 'failed';
  const unmetTests = verdict.tests.filter(({ kind }) => kind === verdict.kind);
  const rest = unmetTests.length - maxNames;
  return (
    <div class="notice row row-split tone-bad deployment-warning" role="note">
      <p>
        <strong>{isFailed ? 'Its smoke tests failed' : 'Its smoke tests proved nothing'}</strong>{' '}
        <TimeAgo at={verdict.created_at} />
        {unmetTests.length > 0 && ': '}
        {unmetTests.slice(0, maxNames).map(({ name }, index) => (
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
