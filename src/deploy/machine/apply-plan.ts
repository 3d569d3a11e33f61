import { randomUUID } from 'node:crypto';
import type { DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import type { Plan } from '../rules/plan-types.ts';
import { changesSource, resolveChange, resolveCreation } from './lost-response.ts';
import type { DeployRun } from './deploy-run.ts';
import type { StartKind } from './deploy-event.ts';
import { tryCall } from '../smoke/try-call.ts';
import { afterTraffic } from '../rules/verification.ts';
import { measureLive } from './measure-live.ts';
import { verificationOf } from './verify-held.ts';
import { sendChange, type Change, type ChangeGuard, type SendResult, type Sender } from './steps/send-change.ts';

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
export async function write<T>(
  run: DeployRun,
  send: (by: Sender) => Promise<T>,
  errorOf: (sent: T) => ServiceError | undefined,
): Promise<T> {
  const { clock, signal, control } = run.request;
  signal?.throwIfAborted();
  run.known.writing = true;
  const sent = await send({ control, clock, signal, graceMs, withinMs: writeMs });
  run.known.writing = errorOf(sent)?.effect === 'unknown';
  return sent;
}

/**
 * Sends a change, and remembers the deployment in the response. Where the response is lost, a service that honours keys
 * gets the same request again; of any other one the effect has to be observed.
 */
export async function send(run: DeployRun, change: Change, guard: ChangeGuard): Promise<SendResult> {
  const { clock, control } = run.request;
  const keyed = { ...guard, key: randomUUID() };
  const once = () =>
    write(
      run,
      (by) => sendChange(change, keyed, by),
      (each) => ('error' in each ? each.error : undefined),
    );
  let sent = await once();
  if (sent.kind === 'lost') run.emit({ kind: 'settling', why: run.redact(sent.error.message) });
  const until = clock.now() + resolveMs;
  while (sent.kind === 'lost' && clock.now() < until) {
    const features = await tryCall(control.features(run.reading(Infinity)));
    if (features.ok && !features.value.idempotencyKeys) break;
    await run.untilNextPoll(until, sent.error.retryAfterMs);
    const again = features.ok ? await once() : sent;
    // A refusal that may pass says nothing about the first request.
    run.known.writing = again.kind === 'lost' || (again.kind === 'refused' && isTransient(again.error));
    if (!run.known.writing) sent = again;
  }
  if ('deployment' in sent) run.saw(sent.deployment);
  return sent;
}

/** Sends a change whose revision is held for its smoke tests; without the hold if the service can't hold this one. */
async function sendHeld(run: DeployRun, change: Change, guard: ChangeGuard): Promise<SendResult> {
  const { when, holdSeconds } = await verificationOf(run);
  if (when === 'after-traffic') await measureLive(run);
  const sent = await send(run, change, { ...guard, holdSeconds });
  if (sent.kind !== 'hold-refused') return sent;
  run.verifies(afterTraffic(run.request.verify, sent.why));
  await measureLive(run);
  return send(run, change, guard);
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
  // With a folder to come, the revision that is followed is the one of the upload.
  const sent = await (planned ? send : sendHeld)(run, { kind: 'create', request }, { former: null });
  if (sent.kind === 'overtaken') return { kind: 'overtaken', error: sent.error };
  if (sent.kind === 'refused' || sent.kind === 'hold-refused') throw sent.error;
  const first = sent.kind === 'accepted' ? sent.deployment.id : undefined;
  const made = sent.kind === 'made' ? sent : await resolveCreation(request, first, resolveMs, run);
  if (sent.kind !== 'lost' || made) run.settled();
  if (made?.revisionId && planned) return fill(made.deployment.id, made.revisionId, { request, planned }, run);
  if (made?.revisionId) {
    return { kind: 'follow', how: 'created', deploymentId: made.deployment.id, revisionId: made.revisionId };
  }
  return sent.kind === 'lost'
    ? { kind: 'unsettled', what: 'the creation', error: sent.error }
    : { kind: 'no-revision' };
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
  const guard = { former: planned.formerLatestRevisionId };
  const sent = await (planned.makesRevision ? sendHeld : send)(run, { kind: 'patch', deploymentId, request }, guard);
  if (sent.kind === 'overtaken') return { kind: 'overtaken', error: sent.error };
  if (sent.kind === 'refused' || sent.kind === 'hold-refused') throw sent.error;
  const isAccepted = sent.kind !== 'lost';
  if (isAccepted && (sent.kind === 'made' || !planned.makesRevision)) {
    run.settled();
    return sent.kind === 'made' && planned.makesRevision
      ? { kind: 'follow', how: 'patched', deploymentId, revisionId: sent.revisionId }
      : kept;
  }
  const { makesRevision, upload: { digest } = {} } = planned;
  // Secrets that the service hides show nothing.
  const trustsHidden = isAccepted || changesSource(request, run.known.formerDeployment);
  const commit = run.known.commit?.kind === 'known' ? run.known.commit.sha : undefined;
  const sought = { commit, request, makesRevision, digest, trustsHidden };
  const former = { id: deploymentId, latest_revision_id: planned.formerLatestRevisionId };
  const found = await resolveChange(former, sought, isAccepted ? lagMs : resolveMs, run);
  if (isAccepted || found) run.settled();
  if (found?.revisionId) return { kind: 'follow', how: 'patched', deploymentId, revisionId: found.revisionId };
  if (found) return kept;
  return isAccepted ? { kind: 'no-revision' } : { kind: 'unsettled', what: 'the change', error: sent.error };
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
