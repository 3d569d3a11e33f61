import type { DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import type { Plan } from '../rules/plan-types.ts';
import { makeChange, type ChangeResult } from './make-change.ts';
import type { DeployRun } from './deploy-run.ts';
import type { StartKind } from './deploy-event.ts';
import { tryCall } from '../smoke/try-call.ts';

/** The result of applying a plan. */
export type ApplyResult =
  | { kind: 'follow'; how: StartKind; deploymentId: string; revisionId: string }
  /** Nothing is on its way: what was live stays live. */
  | { kind: 'kept' }
  /** Another client created a deployment of this name in the meantime, or made a revision. */
  | { kind: 'overtaken'; error: ServiceError }
  /** The service took the change, and made no revision of it. */
  | { kind: 'no-revision' }
  /** Whether the request took effect is unknown. It is never sent again. */
  | { kind: 'unsettled'; what: string; error: ServiceError }
  /** The folder is no longer what was planned: nothing of it was taken. */
  | { kind: 'not-uploaded'; why: string };

/** Carries out the plan. Apart from this, only a rollback and a deletion write to the service. */
export async function applyPlan(planned: Exclude<Plan, { kind: 'impossible' }>, run: DeployRun): Promise<ApplyResult> {
  const started = await (planned.kind === 'create' ? create(planned, run) : alter(planned, run));
  if (started.kind === 'follow') {
    run.known.revisionId = started.revisionId;
    run.known.isHoldOurs = started.how !== 'adopted' && run.known.verification?.when === 'before-traffic';
    run.emit({ ...started, kind: 'started' });
  }
  return started;
}

async function create(
  { request, upload: planned }: Extract<Plan, { kind: 'create' }>,
  run: DeployRun,
): Promise<ApplyResult> {
  // With a folder to come, the revision that is followed is the one of the upload.
  const made = await makeChange(run, { kind: 'create', request }, { isHeld: !planned });
  if (made.kind === 'made' && planned) return fill(made.deploymentId, made.revisionId, { request, planned }, run);
  return applied(made, 'created', 'the creation');
}

function applied(made: ChangeResult, how: StartKind, what: string): ApplyResult {
  switch (made.kind) {
    case 'made':
      return { ...made, kind: 'follow', how };
    case 'in-place':
      return { kind: 'kept' };
    case 'no-revision':
      return { kind: 'no-revision' };
    case 'overtaken':
      return { kind: 'overtaken', error: made.error };
    case 'lost':
      return { kind: 'unsettled', what, error: made.error };
    case 'refused':
      throw made.error;
  }
}

/**
 * The first revision of a creation waits for a folder: it is not followed, the one that the upload makes is. As by the
 * public command line, the path of the graph configuration is sent beside it again.
 */
function fill(
  deploymentId: string,
  waiting: string,
  { request, planned }: { request: DeploymentCreateRequest; planned: { digest: string } },
  run: DeployRun,
): Promise<ApplyResult> {
  const { graph_config_path } = request.source_revision_config;
  const filling = {
    kind: 'patch',
    deploymentId,
    request: { source_revision_config: { graph_config_path } },
    changes: [],
    makesRevision: true,
    formerLatestRevisionId: waiting,
    notes: [],
    upload: planned,
  } as const;
  return alter(filling, run);
}

async function alter(planned: Extract<Plan, { kind: 'patch' | 'none' }>, run: DeployRun): Promise<ApplyResult> {
  const { deploymentId, adopt } = planned;
  const kept: ApplyResult = adopt
    ? { kind: 'follow', how: 'adopted', deploymentId, revisionId: adopt }
    : { kind: 'kept' };
  if (planned.kind === 'none') return kept;
  const uploaded = planned.upload && (await upload(deploymentId, run));
  if (uploaded?.kind === 'changed') return { kind: 'not-uploaded', why: uploaded.why };
  const source = { ...planned.request.source_revision_config, source_tarball_path: uploaded?.path };
  const request = uploaded ? { ...planned.request, source_revision_config: source } : planned.request;
  const { makesRevision, formerLatestRevisionId: former, upload: { digest } = {} } = planned;
  const commit = run.known.commit?.kind === 'known' ? run.known.commit.sha : undefined;
  const sought = { commit, request, makesRevision, digest };
  const change = { kind: 'patch', deploymentId, request } as const;
  const made = await makeChange(run, change, { former, sought, isHeld: makesRevision });
  return made.kind === 'in-place' ? kept : applied(made, 'patched', 'the change');
}

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
