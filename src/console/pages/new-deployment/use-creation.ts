import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { messageOf } from '../../../kit/errors.ts';
import { ApiError, call } from '../../api/http.ts';
import { useLoaded, type Loaded } from '../../api/use-loaded.ts';
import { announce } from '../../parts/toasts.tsx';
import { paths } from '../../paths.ts';
import { pickDropped, type PickedSource } from './picked-source.ts';
import { emptyDraft, problemsAtFields, toRequest, withoutEmptySecrets, type Draft, type Problems } from './request.ts';
import { nameFor } from './source-files.ts';
import { createDeployment, deployTarball, stableKeys, uploadTarball } from './upload.ts';

/** The progress of packing or uploading, in bytes. */
export interface Progress {
  step: 'Packing' | 'Uploading';
  done: number;
  total: number;
}

/** The key of problems with the chosen source. */
export const pickedField = 'source';
/** The field with the path of the graph configuration in an upload. */
export const graphConfigPath = 'source_revision_config.graph_config_path';

/** The form of a new deployment, and the progress of its creation. */
export function useCreation(existingId: string | undefined) {
  const { route } = useLocation();
  const [draft, setDraft] = useState(emptyDraft);
  const [picked, setPicked] = useState<PickedSource>();
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<Error>();
  const [progress, setProgress] = useState<Progress>();
  const [isBusy, setBusy] = useState(false);
  const suggested = useRef('');
  const [keyFor] = useState(stableKeys);
  // Do not upload again if only the last request failed.
  const uploaded = useRef<{ picked: PickedSource; path: string } | undefined>(undefined);
  const existing = useExisting(existingId);
  const unmountSignal = useUnmountSignal();

  /** Clears the problems of changed fields. */
  const clearProblems = (isOutdated: (field: string) => boolean): void =>
    setProblems((former) => Object.fromEntries(Object.entries(former).filter(([field]) => !isOutdated(field))));
  const setValue = (path: string, value: string): void => {
    clearProblems((field) => field === path);
    setDraft((former) => ({ ...former, values: { ...former.values, [path]: value } }));
  };
  const change = (changed: Partial<Draft>): void => {
    // Problems of secrets are stored by index, which changes when one is removed.
    if (changed.secrets) clearProblems((field) => field.startsWith('secrets'));
    setDraft((former) => ({ ...former, ...changed }));
  };

  /** Uses the chosen source. A rejection is shown as its problem. */
  const pick = async (what: Promise<PickedSource>): Promise<void> => {
    try {
      const found = await what;
      setPicked(found);
      clearProblems((field) => field === pickedField);
      setDraft((former) => ({ ...former, sourceKind: 'folder', values: suggestedValues(former.values, found) }));
    } catch (error) {
      setDraft((former) => ({ ...former, sourceKind: 'folder' }));
      setPicked(undefined);
      setProblems((former) => ({ ...former, [pickedField]: messageOf(error) }));
    }
  };
  const suggestedValues = (values: Draft['values'], { name, configPaths }: PickedSource): Draft['values'] => {
    const isNamed = (values['name'] ?? '') !== suggested.current;
    if (!isNamed) suggested.current = nameFor(name);
    return {
      ...values,
      ...(isNamed ? {} : { name: suggested.current }),
      ...(configPaths[0] === undefined ? {} : { [graphConfigPath]: configPaths[0] }),
    };
  };

  /** Packs and uploads the chosen source, and creates a revision from it. */
  const sendSource = async (id: string, source: PickedSource): Promise<Deployment> => {
    if (uploaded.current?.picked !== source) {
      const total = source.bytes;
      const tarball = await source.pack((done) => setProgress({ step: 'Packing', done, total }));
      unmountSignal.throwIfAborted();
      const onUpload = (done: number): void => setProgress({ step: 'Uploading', done, total: tarball.size });
      uploaded.current = { picked: source, path: await uploadTarball(id, tarball, onUpload, unmountSignal) };
    }
    const { path } = uploaded.current;
    const revision = { source_tarball_path: path, graph_config_path: (draft.values[graphConfigPath] ?? '').trim() };
    return deployTarball(id, revision, keyFor(JSON.stringify(revision)));
  };

  const submit = async (): Promise<void> => {
    if (isBusy) return;
    const submitted = withoutEmptySecrets(draft);
    setDraft(submitted);
    const request = existingId === undefined ? toRequest(submitted) : { body: {} };
    const source = submitted.sourceKind === 'folder' ? picked : undefined;
    const missing: Problems =
      submitted.sourceKind === 'folder' && !source ? { [pickedField]: 'Choose a folder or an archive first.' } : {};
    const found: Problems = { ...missing, ...('problems' in request ? request.problems : {}) };
    setProblems(found);
    setFailure(undefined);
    if ('problems' in request || Object.keys(found).length > 0) return;
    setBusy(true);
    let isSending = false;
    try {
      const content = JSON.stringify(request.body);
      let id = existingId;
      let deployed = id === undefined ? await createDeployment(request.body, keyFor(content)) : undefined;
      id ??= deployed?.id ?? '';
      unmountSignal.throwIfAborted();
      if (source) {
        // From here on, a reload or a retry continues with this deployment.
        route(paths.upload(id), true);
        isSending = true;
        deployed = await sendSource(id, source);
        isSending = false;
      }
      unmountSignal.throwIfAborted();
      const revision = deployed?.latest_revision_id;
      route(revision ? paths.revision(id, revision) : paths.deployment(id));
    } catch (error) {
      if (unmountSignal.aborted) {
        if (error instanceof ApiError) announce(`The deployment: ${error.message}`, 'failed');
        else if (isSending) announce('The upload was stopped. Open the deployment to upload again.', 'failed');
        return;
      }
      const refused = error instanceof ApiError ? error : { message: messageOf(error), problems: [] };
      const { problems: atFields, rest } = problemsAtFields(refused, submitted);
      setProblems(atFields);
      setFailure(rest === undefined ? undefined : new Error(rest));
      setBusy(false);
      setProgress(undefined);
    }
  };

  // The path of the configuration of an existing deployment.
  const storedPath = existing?.data?.source_revision_config.graph_config_path;
  useEffect(() => {
    if (storedPath && !picked) setValue(graphConfigPath, storedPath);
  }, [storedPath]);

  return {
    draft,
    change,
    setValue,
    picked,
    pick,
    drop: (transfer: DataTransfer) => void pick(pickDropped(transfer)),
    problems,
    /** The error that does not belong to a field. */
    failure,
    progress,
    isBusy,
    submit,
    /** The deployment whose source is uploaded; undefined for a new one. */
    existing,
  };
}
export type Creation = ReturnType<typeof useCreation>;

function useExisting(id: string | undefined): Loaded<Deployment | undefined> | undefined {
  const loaded = useLoaded(id ?? '', async (signal) =>
    id === undefined
      ? undefined
      : call('GET', `v2/deployments/${encodeURIComponent(id)}`, deploymentSchema, { signal }),
  );
  return id === undefined ? undefined : loaded;
}

/** Aborts when the page is unmounted: its pending requests must not navigate away from the next page. */
function useUnmountSignal(): AbortSignal {
  const [unmounted] = useState(() => new AbortController());
  useEffect(() => () => unmounted.abort(), [unmounted]);
  return unmounted.signal;
}
