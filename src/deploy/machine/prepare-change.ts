import type { DeploymentPatchRequest, IdleAfter } from '../../contract/control/deployment.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import { pinnedCommit } from '../rules/commit.ts';
import { carriesSource } from '../rules/find-made.ts';
import type { Plan } from '../rules/plan-types.ts';
import { tryCall } from '../smoke/try-call.ts';
import { keyOf } from './bind-plan.ts';
import type { DeployRun } from './deploy-run.ts';
import type { DeployIn, Prepared, RunRevision } from './deploy-state.ts';
import type { Seen } from './next.ts';
import { verificationOf } from './verify-held.ts';

type PatchPlan = Extract<Plan, { kind: 'patch' }>;

/** Makes a plan ready to be sent: a folder is uploaded, which changes nothing yet, and the hold is decided. */
export async function prepareChange(
  planned: Exclude<Plan, { kind: 'impossible' }>,
  run: DeployRun,
): Promise<Seen['requested']> {
  if (planned.kind === 'none') return withoutChange(planned.deploymentId, planned.adopt);
  if (planned.kind === 'patch') return preparePatch(planned, run);
  const { request, upload: folder } = planned;
  const change = { kind: 'create', request } as const;
  // With a folder to come, the revision that is followed is the one of the upload.
  return prepared({ how: 'created', change, former: null, sought: {}, mayHold: !folder, folder }, run);
}

/** What is followed without a change: a revision that has what is requested, or nothing. */
export const withoutChange = (
  deploymentId: string,
  adopt: string | undefined,
): Extract<Seen['resolving'], { kind: 'follows' | 'stays' }> =>
  adopt ? { kind: 'follows', own: { deploymentId, revisionId: adopt, how: 'adopted' } } : { kind: 'stays' };

/**
 * The first revision of a creation waits for a folder: it is not followed, the one that the upload makes is. As by the
 * public command line, the path of the graph configuration is sent beside it again.
 */
export function prepareFolder(
  { deploymentId, waiting, graphConfigPath, digest }: DeployIn<'filling'>,
  run: DeployRun,
): Promise<Seen['filling']> {
  const request = { source_revision_config: { graph_config_path: graphConfigPath } };
  const [formerLatestRevisionId, upload] = [waiting, { digest }];
  return preparePatch({ deploymentId, request, makesRevision: true, formerLatestRevisionId, upload }, run);
}

async function preparePatch(
  planned: Pick<
    PatchPlan,
    'deploymentId' | 'request' | 'makesRevision' | 'formerLatestRevisionId' | 'upload' | 'adopt'
  >,
  run: DeployRun,
): Promise<Seen['filling']> {
  const { deploymentId, makesRevision, formerLatestRevisionId: former, upload: { digest } = {}, adopt } = planned;
  const uploaded = planned.upload && (await upload(deploymentId, run));
  if (uploaded?.kind === 'changed') return { kind: 'ends', ending: { kind: 'not-uploaded', why: uploaded.why } };
  const source = { ...planned.request.source_revision_config, source_tarball_path: uploaded?.path };
  const request: DeploymentPatchRequest = uploaded
    ? { ...planned.request, source_revision_config: source }
    : planned.request;
  const commit = run.known.commit?.kind === 'known' ? run.known.commit.sha : undefined;
  // Another source: a revision of it shows that the change was applied.
  const trustsHidden = !carriesSource(request, run.known.formerDeployment ?? {});
  const sought = { commit, request, makesRevision, digest, trustsHidden };
  const change = { kind: 'patch', deploymentId, request } as const;
  return prepared({ how: 'patched', change, former, sought, mayHold: makesRevision, adopt }, run);
}

async function prepared(change: Prepared, run: DeployRun): Promise<Extract<Seen['requested'], { kind: 'prepared' }>> {
  const { holdSeconds } = change.mayHold ? await verificationOf(run) : {};
  // What changes in place makes no revision, of whatever commit.
  const isBuilt = change.sought.makesRevision !== false;
  const pin = isBuilt ? { commit: pinnedCommit(run.known.commit), buildOf: run.known.buildOf } : {};
  const ready = { ...change, holdSeconds, ...pin, idleAfter: await idleAfterOf(change, run) };
  return { kind: 'prepared', prepared: ready, key: keyOf(ready, run) };
}

/** When the agent of a preview is scaled to zero, where the service does that; it is noted once where it does not. */
async function idleAfterOf({ change }: Prepared, run: DeployRun): Promise<IdleAfter | undefined> {
  const { previewRun, control } = run.request;
  const idleAfter = previewRun?.idleAfter;
  if (idleAfter === undefined || change.kind === 'redeploy') return undefined;
  const config = change.kind === 'create' ? change.request.source_config : run.known.formerDeployment?.source_config;
  const isOffered = (await control.features(run.reading())).scalesToZero === true && config?.listener_id == null;
  if (!isOffered && idleAfter !== 'never' && change.kind === 'create') run.note({ code: 'not-scaled-to-zero' });
  return isOffered ? idleAfter : undefined;
}

/** The revision that a change made. */
export const ownRevision = (
  { how, holdSeconds }: Pick<Prepared, 'how' | 'holdSeconds'>,
  { deploymentId, revisionId }: Pick<RunRevision, 'deploymentId' | 'revisionId'>,
): RunRevision => ({ deploymentId, revisionId, how, ...(holdSeconds === undefined ? {} : { holdSeconds }) });

/** Where the folder lies now, or why it could not be sent as it was planned. */
type UploadResult = { kind: 'stored'; path: string } | { kind: 'changed'; why: string };

/** How often an upload is tried: an address may be used up or expired when the bytes arrive. */
const attempts = 3;

/**
 * Uploads the folder of the request for a deployment. It changes nothing at the deployment, so what failed on the way
 * is done again at a new address. Throws the `ServiceError` of a service that refuses.
 */
async function upload(deploymentId: string, run: DeployRun): Promise<UploadResult> {
  const { further, tarball, clock } = run.request;
  if (!further || !tarball) throw new Error('an upload was planned without a folder or an upload client');
  run.emit({ kind: 'uploading', files: tarball.files, size: tarball.size });
  const began = clock.now();
  for (let made = 1; ; made += 1) {
    const options = { signal: run.request.signal, deadline: run.deadline };
    const { upload_url: address, object_path: path } = await further.requestUpload(deploymentId, run.reading());
    const put = await tryCall(further.putTarball(address, tarball, options));
    if (put.ok && put.value.kind === 'changed') return put.value;
    if (put.ok) {
      run.emit({ kind: 'uploaded', ms: clock.now() - began });
      return { kind: 'stored', path };
    }
    if (made === attempts || !isTransientForUpload(put.error)) throw put.error;
    run.emit({ kind: 'upload-failed', why: run.redact(put.error.message) });
    await run.untilNextPoll(run.deadline, put.error.retryAfterMs);
  }
}

/** Whether a retry with a new address can succeed: an expired address is refused like an unknown one. */
const isTransientForUpload = (error: ServiceError): boolean =>
  isTransient(error) || error.status === 403 || error.status === 410;
