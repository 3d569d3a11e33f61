import { deploymentPage } from '../../parts/deployment-page.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { toError } from '../../../kit/errors.ts';
import { ApiError, call } from '../../api/http.ts';
import { paths } from '../../paths.ts';
import { ErrorNotice } from '../../parts/notices.tsx';
import { shortId } from '../../parts/words.ts';
import { announce } from '../../parts/toasts.tsx';
import { changedByOthers, changesOf, saveEffect, type Edits } from './changes.ts';
import { FieldControl, FixedFields } from './field-control.tsx';
import { isEditable, settingsFields, type SettingsField } from './fields.ts';
import { noSecretEdits, type SecretEdits } from './secrets.ts';
import { SecretsEditor } from './secrets-editor.tsx';
import { Button } from '../../parts/button.tsx';

/** The settings of a deployment. */
export default deploymentPage('Settings', ({ deployment, reload }) =>
  deployment.status === 'AWAITING_DELETE' ? (
    <p class="notice" role="status">
      This deployment is being deleted. Its settings can no longer be changed.
    </p>
  ) : (
    <SettingsForm key={deployment.id} current={deployment} reload={reload} />
  ),
);

interface SettingsFormProps {
  /** The deployment as it was last loaded. */
  current: Deployment;
  reload: () => Promise<void>;
}

/** The settings of a deployment as a form. Edits stay while the deployment is polled. */
function SettingsForm({ current, reload }: SettingsFormProps) {
  // The deployment that the edits are based on.
  const [base, setBase] = useState(current);
  const [edits, setEdits] = useState<Edits>({});
  const [secrets, setSecrets] = useState<SecretEdits>(noSecretEdits);
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const [wasSubmitted, setTried] = useState(false);
  const [newRevisionId, setMade] = useState<string>();
  const key = useRef<string | undefined>(undefined);

  const fields = settingsFields(base.source);
  const changes = changesOf(base, fields, { edits, secrets });
  const effect = saveEffect(changes.fields);
  const conflict = effect === undefined ? undefined : conflictOf(base, current, changes.fields);

  useEffect(() => {
    if (effect === undefined && !isBusy) setBase(current);
  }, [current, effect === undefined, isBusy]);
  useEffect(() => {
    if (effect === undefined) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [effect === undefined]);

  const resetResult = (): void => {
    // A further edit needs a new idempotency key.
    key.current = undefined;
    setMade(undefined);
    setError(undefined);
  };
  const discard = (): void => {
    resetResult();
    setEdits({});
    setSecrets(noSecretEdits);
    setTried(false);
  };
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    setTried(true);
    if (isBusy) return;
    if (changes.patch === undefined) {
      if (form instanceof HTMLFormElement) requestAnimationFrame(() => focusProblem(form));
      return;
    }
    setBusy(true);
    setError(undefined);
    // `If-Match` only detects newer revisions, so also check for changes that created none.
    const latest = await call('GET', `v2/deployments/${base.id}`, deploymentSchema).catch(() => base);
    if (conflictOf(base, latest, changes.fields) !== undefined) {
      await reload();
      setBusy(false);
      return;
    }
    key.current ??= crypto.randomUUID();
    const headers = {
      [idempotencyKeyHeader]: key.current,
      ...(base.latest_revision_id === null ? {} : { 'if-match': base.latest_revision_id }),
    };
    try {
      const body = changes.patch;
      const saved = await call('PATCH', `v2/deployments/${base.id}`, deploymentSchema, { body, headers });
      const isNew = saved.latest_revision_id !== null && saved.latest_revision_id !== base.latest_revision_id;
      discard();
      setBase(saved);
      setMade(isNew ? (saved.latest_revision_id ?? undefined) : undefined);
      announce(isNew ? 'Saved. A new revision is being made.' : 'Saved.');
      await reload();
    } catch (failure) {
      setError(toError(failure));
      if (failure instanceof ApiError && failure.status === 412) await reload();
    } finally {
      setBusy(false);
    }
  };
  const refused = error instanceof ApiError ? error : undefined;
  const problemOf = (path: string): string | undefined =>
    (wasSubmitted || path === 'source_config.resource_spec' ? changes.problems.get(path) : undefined) ??
    refused?.problems.find(({ field }) => field.startsWith(path))?.message;
  const invalidLabels = fields.filter(({ path }) => problemOf(path) !== undefined).map(({ label }) => label);

  return (
    <form class="settings" noValidate onSubmit={(event) => void save(event)}>
      <section class="panel" aria-labelledby="settings-editable">
        <h2 id="settings-editable">What you can change</h2>
        {fields.filter(isEditable).map((field) =>
          field.control === 'secrets' ? (
            <SecretsEditor
              key={field.path}
              names={(base.secrets ?? []).map(({ name }) => name)}
              edits={secrets}
              problem={problemOf(field.path)}
              onChange={(next) => {
                resetResult();
                setSecrets(next);
              }}
            />
          ) : (
            <FieldControl
              key={field.path}
              deployment={base}
              field={field}
              editedText={edits[field.path]}
              problem={problemOf(field.path)}
              onInput={(text) => {
                resetResult();
                setEdits({ ...edits, [field.path]: text });
              }}
            />
          ),
        )}
      </section>
      <section class="panel" aria-labelledby="settings-fixed">
        <h2 id="settings-fixed">Cannot be changed</h2>
        <FixedFields deployment={base} fields={fields.filter((field) => !isEditable(field))} />
      </section>
      <div
        class={`panel row row-split settings-bar ${effect || newRevisionId ? 'settings-bar-sticky' : ''}`}
        role="region"
        aria-label="Save"
      >
        {conflict !== undefined && (
          <div class="notice row row-split tone-bad" role="alert">
            <p>{conflict} Load the newer settings: what you typed stays.</p>
            <Button
              onClick={() => {
                resetResult();
                setBase(current);
              }}
            >
              Load the newer settings
            </Button>
          </div>
        )}
        {error && conflict === undefined && <ErrorNotice error={error} />}
        <div class="settings-said">
          <p role="status">
            {effect ? (
              effect.message
            ) : newRevisionId === undefined ? (
              'Nothing is changed.'
            ) : (
              <>
                Saved. The service is making{' '}
                <a href={paths.revision(base.id, newRevisionId)}>revision {shortId(newRevisionId)}</a> of it.
              </>
            )}
          </p>
          {invalidLabels.length > 0 && <p class="field-error">Cannot be saved yet: {invalidLabels.join(', ')}.</p>}
          {effect && <p class="muted">Changed: {changes.fields.map(({ label }) => label).join(', ')}</p>}
        </div>
        <div class="actions">
          <Button kind="primary" type="submit" disabled={effect === undefined || isBusy || conflict !== undefined}>
            {effect?.makesRevision ? 'Save and create a revision' : 'Save'}
          </Button>
          <Button disabled={effect === undefined || isBusy} onClick={discard}>
            Discard the changes
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Why a change conflicts with a newer one of others; undefined if it can be saved. */
function conflictOf(base: Deployment, latest: Deployment, changed: readonly SettingsField[]): string | undefined {
  if (base.latest_revision_id !== latest.latest_revision_id) {
    return 'The deployment has a newer revision than the one that this form was loaded with.';
  }
  const labels = changedByOthers(base, latest, changed).map(({ label }) => label);
  return labels.length === 0 ? undefined : `Changed since this form was loaded: ${labels.join(', ')}.`;
}

/** Moves the focus to the first field with a problem, once it is shown. */
function focusProblem(form: HTMLFormElement): void {
  const field = form.querySelector('[aria-invalid="true"]');
  if (field instanceof HTMLElement) field.focus();
}
