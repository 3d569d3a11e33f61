import { randomUUID } from 'node:crypto';
import type { Deployment, DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import { carriesSource, findMade, type SoughtChange } from '../rules/find-made.ts';
import { afterTraffic } from '../rules/verification.ts';
import { tryCall } from '../smoke/try-call.ts';
import type { DeployRun } from './deploy-run.ts';
import { findByName } from './find-deployments.ts';
import { measureLive } from './measure-live.ts';
import { readNewer } from './steps/read-deployment.ts';
import { sendChange, type Change, type ChangeGuard, type SendResult, type Sender } from './steps/send-change.ts';
import { verificationOf } from './verify-held.ts';

/** How long to poll for the effect of a write without a response, or for a revision missing in the response (ms). */
export const resolveMs = 60_000;
const lagMs = 15_000;

/** What a change came to. */
export type ChangeResult =
  | { kind: 'made'; deploymentId: string; revisionId: string }
  /** The service took it: `in-place` where it needs no revision. */
  | { kind: 'in-place' | 'no-revision' }
  /** `lost`: whether it took effect is unknown, and it is never sent again. */
  | { kind: 'overtaken' | 'refused' | 'lost'; error: ServiceError };

/** Sends a change, and looks for its revision where no response names it. */
export async function makeChange(
  run: DeployRun,
  change: Change,
  { former = null, sought = {}, isHeld = false }: { former?: string | null; sought?: SoughtChange; isHeld?: boolean },
): Promise<ChangeResult> {
  const sent = await (isHeld ? sendHeld : send)(run, change, { former });
  if (sent.kind === 'hold-refused') return { kind: 'refused', error: sent.error };
  if (sent.kind === 'overtaken' || sent.kind === 'refused') return sent;
  const isLost = sent.kind === 'lost';
  const found = sent.kind === 'made' ? sent : await resolved();
  if (!isLost || found) run.settled();
  if (!isLost && sought.makesRevision === false) return { kind: 'in-place' };
  if (found?.revisionId) return { kind: 'made', deploymentId: found.deployment.id, revisionId: found.revisionId };
  if (found) return { kind: 'in-place' };
  return isLost ? { kind: 'lost', error: sent.error } : { kind: 'no-revision' };

  async function resolved(): Promise<ResolvedWrite | undefined> {
    const first = sent.kind === 'accepted' ? sent.deployment : undefined;
    if (change.kind === 'create') return resolveCreation(change.request, first?.id, resolveMs, run);
    if (first && sought.makesRevision === false) return undefined;
    // Another source: a revision of it shows that the change was applied.
    const trustsHidden = !isLost || !carriesSource(sought.request ?? {}, run.known.formerDeployment ?? {});
    const before = { id: change.deploymentId, latest_revision_id: former };
    return resolveChange(before, { ...sought, trustsHidden }, isLost ? resolveMs : lagMs, run);
  }
}

/** The service for one write of a run, which goes on for a moment after cancellation. Throws where that came before. */
export function senderOf({ request: { control, clock, signal } }: DeployRun): Sender {
  signal?.throwIfAborted();
  return { control, clock, signal, graceMs: 1_000, withinMs: 60_000 };
}

/**
 * Sends a change, and remembers the deployment in the response. Where the response is lost, a service that honours keys
 * gets the same request again; of any other one the effect has to be observed. `writing` marks an unknown effect.
 */
async function send(run: DeployRun, change: Change, guard: ChangeGuard): Promise<SendResult> {
  const { clock, control } = run.request;
  const key = randomUUID();
  const once = (): Promise<SendResult> => {
    const by = senderOf(run);
    run.known.writing = true;
    return sendChange(change, { ...guard, key }, by);
  };
  let sent = await once();
  run.known.writing = sent.kind === 'lost';
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

/** What a write is found to have done. Without a revision it changed settings in place. */
interface ResolvedWrite {
  deployment: Deployment;
  revisionId: string | undefined;
}

/** Polls until `look` finds what was written, for at most `ms`, or the run's timeout while it may be. */
async function pollUntilFound(
  ms: number,
  run: DeployRun,
  look: () => Promise<ResolvedWrite | 'may-be' | 'none'>,
): Promise<ResolvedWrite | undefined> {
  const { clock, timeoutMs } = run.request;
  const began = clock.now();
  for (;;) {
    const seen = await tryCall(look());
    if (seen.ok && typeof seen.value !== 'string') return seen.value;
    if (!seen.ok) run.emit({ kind: 'poll-failed', why: run.redact(seen.error.message) });
    const until = began + (seen.ok && seen.value === 'may-be' ? Math.max(ms, timeoutMs) : ms);
    if (clock.now() >= until) return undefined;
    await run.untilNextPoll(until, seen.ok ? 0 : seen.error.retryAfterMs);
  }
}

/**
 * Resolves a creation whose response was lost or lacked its first revision. The name did not exist before, so a
 * deployment of this name and source is the requested one, even if another client created it.
 */
function resolveCreation(
  { name, source }: DeploymentCreateRequest,
  id: string | undefined,
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  return pollUntilFound(ms, run, async () => {
    const found = id
      ? [run.saw(await run.request.control.getDeployment(id, run.reading(Infinity)))]
      : await findByName(name, run);
    const made = found.find((deployment) => deployment.source === source && deployment.latest_revision_id);
    return made ? { deployment: made, revisionId: made.latest_revision_id ?? undefined } : 'none';
  });
}

/**
 * Resolves a change whose response was lost or reported no new revision. A newer revision with the requested content is
 * adopted, even if another client made it: a second request could only make a duplicate. Longer than `ms` it waits only
 * for a revision that does not report its commit yet.
 */
function resolveChange(
  { id, latest_revision_id: former }: Pick<Deployment, 'id' | 'latest_revision_id'>,
  sought: SoughtChange,
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  const { control } = run.request;
  const options = () => run.reading(Infinity);
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await control.getDeployment(id, options()));
    const found = findMade(sought, { deployment, newer: await readNewer(deployment, former, { control, options }) });
    // What has neither a commit nor a content can't turn out to be the one.
    if (found.kind === 'may-be') return sought.commit || sought.request ? 'may-be' : 'none';
    if (found.kind === 'none') return 'none';
    return { deployment, revisionId: found.kind === 'made' ? found.revision.id : undefined };
  });
}
