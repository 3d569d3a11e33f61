import type { Deployment, DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import type { WriteOptions } from '../../contract/control/service.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import type { Plan } from '../rules/plan-types.ts';
import { resolveCreation, resolvePatch } from './lost-response.ts';
import type { DeployRun } from './deploy-run.ts';
import type { StartKind } from './deploy-event.ts';
import { tryCall, type CallResult } from '../smoke/try-call.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import { verificationAfterRefusal } from '../rules/verification.ts';
import { measureLive } from './measure-live.ts';
import { verificationOf } from './verify-held.ts';
import { withGrace } from './deadlines.ts';

/** How long a write may take (ms), and how long it may go on after cancellation. */
const writeMs = 60_000;
const graceMs = 1_000;

/** How long to poll for the effect of a write without a response, or for a revision missing in the response (ms). */
export const resolveMs = 60_000;
const lagMs = 15_000;

/**
 * Sends one write request, once. Until its response arrives, `writing` marks its effect as unknown. Cancellation lets
 * it go on for a moment, because an interrupted write may have taken effect.
 */
export async function write<T>(run: DeployRun, send: (options: CallOptions) => Promise<T>): Promise<CallResult<T>> {
  const { clock, signal } = run.request;
  signal?.throwIfAborted();
  run.known.writing = true;
  const deadline = clock.now() + writeMs;
  const answered = await withGrace(clock, graceMs, signal, (late) => tryCall(send({ deadline, signal: late })));
  run.known.writing = !answered.ok && answered.error.effect === 'unknown';
  return answered;
}

/** Sends a change whose revision is held for its smoke tests; without the hold if the service can't hold this one. */
async function writeHeld(
  run: DeployRun,
  send: (options: WriteOptions) => Promise<Deployment>,
): Promise<CallResult<Deployment>> {
  const { when, holdSeconds } = await verificationOf(run);
  if (when === 'after-traffic') await measureLive(run);
  const answered = await write(run, (options) => send({ ...options, holdSeconds }));
  if (holdSeconds === undefined || answered.ok) return answered;
  const instead = verificationAfterRefusal(run.request.verify, answered.error);
  if (!instead) return answered;
  run.verifies(instead);
  await measureLive(run);
  return write(run, send);
}

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
  const { control } = run.request;
  // With a folder to come, the revision that is followed is the one of the upload.
  const send = planned ? write<Deployment> : writeHeld;
  const answered = await send(run, (options) => control.createDeployment(request, options));
  if (!answered.ok && answered.error.kind === 'conflict') return { kind: 'overtaken', error: answered.error };
  if (!answered.ok && answered.error.effect === 'none') throw answered.error;
  run.sawResponse(answered);
  const first = answered.ok
    ? { deployment: answered.value, revisionId: answered.value.latest_revision_id ?? undefined }
    : undefined;
  const made = first?.revisionId ? first : await resolveCreation(request, first?.deployment.id, resolveMs, run);
  if (answered.ok || made) run.settled();
  if (made?.revisionId && planned) return fill(made.deployment.id, made.revisionId, { request, planned }, run);
  if (made?.revisionId) {
    return { kind: 'follow', how: 'created', deploymentId: made.deployment.id, revisionId: made.revisionId };
  }
  return answered.ok ? { kind: 'no-revision' } : { kind: 'unsettled', what: 'the creation', error: answered.error };
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
  const { control } = run.request;
  const uploaded = planned.upload && (await upload(deploymentId, run));
  if (uploaded?.kind === 'changed') return { kind: 'not-uploaded', why: uploaded.why };
  const source = { ...planned.request.source_revision_config, source_tarball_path: uploaded?.path };
  const request = uploaded ? { ...planned.request, source_revision_config: source } : planned.request;
  const ifLatest = planned.formerLatestRevisionId ?? undefined;
  const send = planned.makesRevision ? writeHeld : write<Deployment>;
  const answered = await send(run, (options) =>
    control.patchDeployment(deploymentId, request, { ...options, ifLatest }),
  );
  if (!answered.ok && answered.error.status === 412) return { kind: 'overtaken', error: answered.error };
  if (!answered.ok && answered.error.effect === 'none') throw answered.error;
  run.sawResponse(answered);
  const latest = answered.ok ? answered.value.latest_revision_id : null;
  const bound = latest && latest !== planned.formerLatestRevisionId ? latest : undefined;
  if (answered.ok && (bound || !planned.makesRevision)) {
    run.settled();
    return bound && planned.makesRevision ? { kind: 'follow', how: 'patched', deploymentId, revisionId: bound } : kept;
  }
  const sent = { ...planned, request, digest: planned.upload?.digest, isAccepted: answered.ok };
  const found = await resolvePatch(sent, answered.ok ? lagMs : resolveMs, run);
  if (answered.ok || found) run.settled();
  if (found?.revisionId) return { kind: 'follow', how: 'patched', deploymentId, revisionId: found.revisionId };
  if (found) return kept;
  return answered.ok ? { kind: 'no-revision' } : { kind: 'unsettled', what: 'the change', error: answered.error };
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
