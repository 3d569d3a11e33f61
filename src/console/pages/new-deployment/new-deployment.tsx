import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Deployment } from '../../../contract/control/deployment.ts';
import { ErrorNotice, Loading } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { paths } from '../../paths.ts';
import { AdvancedFields, FieldInput, SecretFields } from './fields.tsx';
import { FolderPicker } from './folder-picker.tsx';
import { formFields, sourceKinds, type SourceKind } from './request.ts';
import { useChoices } from './use-choices.ts';
import { graphConfigPath, useCreation, type Creation, type Progress } from './use-creation.ts';
import { sizeText } from '../../parts/words.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';

/** Creates a deployment, or with `?deployment=ID` uploads the source of an existing one. */
export default function NewDeployment() {
  const { query } = useLocation();
  const creation = useCreation(query['deployment']);
  const { problems, failure, isBusy, submit, existing } = creation;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);
  useDropOnPage(creation);
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    void submit();
  };
  const isUpload = existing !== undefined;
  const id = query['deployment'];
  return (
    <Page title={isUpload ? uploadTitle(existing.data) : 'New deployment'}>
      <LeavingGuard isBusy={isBusy} />
      {failure && <ErrorNotice error={failure} />}
      <form ref={form} class="new-deployment" noValidate onSubmit={send} aria-busy={isBusy}>
        <fieldset disabled={isBusy}>
          <legend class="visually-hidden">Deployment</legend>
          {isUpload ? <UploadForm creation={creation} /> : <CreateForm creation={creation} />}
        </fieldset>
        <ProgressBar progress={creation.progress} />
        <div class="actions">
          <Button kind="primary" type="submit" aria-disabled={isBusy}>
            {isBusy ? 'Deploying …' : 'Deploy'}
          </Button>
          {id !== undefined && !isBusy && (
            <a class="button" href={paths.deployment(id)}>
              Cancel
            </a>
          )}
          <span class="muted">
            {isUpload
              ? 'Makes a revision of what you upload.'
              : 'Creates the deployment and builds its first revision.'}
          </span>
        </div>
      </form>
    </Page>
  );
}

/** The title of an upload. It is the first version if the upload of a new deployment failed. */
function uploadTitle(deployment: Deployment | undefined): string {
  if (deployment === undefined) return 'Upload a new version';
  const isFirst = !deployment.source_revision_config.source_tarball_path;
  return `Upload ${isFirst ? 'the first' : 'a new'} version of ${deployment.name}`;
}

const sourceTexts: Readonly<Record<SourceKind, readonly [title: string, text: string]>> = {
  folder: ['Folder or archive', 'Upload it from this computer.'],
  repository: ['Repository', 'Build a branch, and every push to it if you like.'],
  image: ['Image', 'Run a container image that you have built.'],
};

function CreateForm({ creation }: { creation: Creation }) {
  const { draft, change, problems, setValue } = creation;
  const options = useChoices(draft);
  const fields = formFields(draft.sourceKind);
  const input = (field: (typeof fields)[number]) => (
    <FieldInput
      key={field.path}
      field={field}
      value={draft.values[field.path] ?? ''}
      problem={problems[field.path]}
      options={options[field.path]}
      onChange={(value) => setValue(field.path, value)}
    />
  );
  const advanced = fields.filter(({ isAdvanced }) => isAdvanced);
  return (
    <>
      <fieldset class="new-deployment-sources">
        <legend>What do you want to deploy?</legend>
        {sourceKinds.map((sourceKind) => {
          const [title, text] = sourceTexts[sourceKind];
          return (
            <label key={sourceKind} class="surface new-deployment-source">
              <input
                type="radio"
                name="source-kind"
                checked={draft.sourceKind === sourceKind}
                onChange={() => change({ sourceKind })}
              />
              <span>
                <strong>{title}</strong>
                <span class="muted">{text}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
      <section class="panel">
        {draft.sourceKind === 'folder' && <FolderPicker creation={creation} />}
        {fields.filter(({ isAdvanced }) => !isAdvanced).map(input)}
        <AdvancedFields hasProblem={advanced.some(({ path }) => problems[path] !== undefined)}>
          {advanced.map(input)}
        </AdvancedFields>
      </section>
      <SecretFields secrets={draft.secrets} problems={problems} onChange={(secrets) => change({ secrets })} />
    </>
  );
}

function UploadForm({ creation }: { creation: Creation }) {
  const { draft, existing, problems, setValue } = creation;
  const { data, error, reload } = existing ?? {};
  if (error) return <ErrorNotice error={error} retry={reload} />;
  if (!data) return <Loading what="the deployment" />;
  const config = formFields('folder').find(({ path }) => path === graphConfigPath);
  return (
    <section class="panel">
      <p class="notice">
        Choose the folder or the archive to build. The name, the settings and the secrets of the deployment stay.{' '}
        {data.active_revision_id !== null && 'What serves now keeps serving until the new version is ready.'}
      </p>
      <FolderPicker creation={creation} />
      {config && (
        <FieldInput
          field={config}
          value={draft.values[graphConfigPath] ?? ''}
          problem={problems[graphConfigPath]}
          onChange={(value) => setValue(graphConfigPath, value)}
        />
      )}
    </section>
  );
}

/** Accepts drops anywhere on the page: outside of the field, the browser would open the file instead. */
function useDropOnPage({ drop, isBusy }: Creation): void {
  const latest = useRef(drop);
  latest.current = drop;
  useEffect(() => {
    const onDragOver = (event: DragEvent): void => event.preventDefault();
    const onDrop = (event: DragEvent): void => {
      event.preventDefault();
      if (event.dataTransfer && !isBusy) latest.current(event.dataTransfer);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('drop', onDrop);
    };
  }, [isBusy]);
}

/** The progress of packing and uploading. */
function ProgressBar({ progress }: { progress: Progress | undefined }) {
  if (!progress) return null;
  const { step, done, total } = progress;
  return (
    <div class="field">
      <span>{`${step}: ${sizeText(done)} of ${sizeText(total)}`}</span>
      <progress aria-label={step} max={Math.max(total, 1)} value={done} />
    </div>
  );
}

/** Asks for confirmation before the page is left during an upload, which would stop. */
function LeavingGuard({ isBusy }: { isBusy: boolean }) {
  const { route } = useLocation();
  const [target, setTarget] = useState<string>();
  useEffect(() => {
    if (!isBusy) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    const interceptClick = (event: MouseEvent): void => {
      const path = pathAway(event);
      if (path === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setTarget(path);
    };
    addEventListener('beforeunload', warn);
    // Before the router sees the click.
    addEventListener('click', interceptClick, { capture: true });
    return () => {
      removeEventListener('beforeunload', warn);
      removeEventListener('click', interceptClick, { capture: true });
      setTarget(undefined);
    };
  }, [isBusy]);
  if (target === undefined) return null;
  return (
    <ConfirmDialog
      title="Leave before the upload has ended?"
      action="Leave"
      isDangerous
      onConfirm={async () => route(target)}
      onClose={() => setTarget(undefined)}
    >
      <p>The upload stops, and nothing of it is deployed. You can upload again from the page of the deployment.</p>
    </ConfirmDialog>
  );
}

/** The target of a click that leaves the page in this tab. The browser itself warns before other origins. */
function pathAway({ target, button, ctrlKey, metaKey, altKey, shiftKey }: MouseEvent): string | undefined {
  if (button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return undefined;
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!link || link.target !== '' || link.origin !== location.origin) return undefined;
  return link.getAttribute('href')?.startsWith('#') === true ? undefined : link.pathname + link.search;
}
