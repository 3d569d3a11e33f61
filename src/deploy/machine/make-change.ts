import type { Deployment, DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import { isTransient } from '../../contract/service-error.ts';
import type { SoughtChange } from '../rules/find-made.ts';
import { tryCall } from '../smoke/try-call.ts';
import type { DeployRun } from './deploy-run.ts';
import type { DeployIn, Prepared } from './deploy-state.ts';
import type { Seen } from './next.ts';
import { ownRevision, withoutChange } from './prepare-change.ts';
import { findByName } from './find-deployments.ts';
import { findEffect } from './steps/read-deployment.ts';
import { sendChange, type SendResult, type Sender } from './steps/send-change.ts';

/** How long to poll for the effect of a write without a response, or for a revision missing in the response (ms). */
export const resolveMs = 60_000;
const lagMs = 15_000;

/** What is known to be made: a revision, or a change in place that needs none. */
type Made = { deploymentId: string } & ({ kind: 'made'; revisionId: string } | { kind: 'in-place' });

/** What a change came to. */
export type ChangeResult =
  | Made
  /** The service took it. */
  | { kind: 'no-revision' }
  /** `lost`: whether it took effect is unknown, and it is never sent again. */
  | Exclude<SendResult, { kind: 'made' | 'accepted' }>;

/** A change, and how its effect shows where no response names it. */
type SentChange = Pick<Prepared, 'change' | 'former' | 'sought' | 'holdSeconds' | 'commit' | 'buildOf' | 'idleAfter'>;

/** Sends the change of a deploy. Where its revision can't be held, nothing was made, and it is sent again without. */
export async function sendPrepared(
  { prepared, key }: Pick<DeployIn<'sending'>, 'prepared' | 'key'>,
  run: DeployRun,
): Promise<Seen['sending']> {
  run.known.sent = prepared;
  const made = await makeChange(run, prepared, key);
  switch (made.kind) {
    case 'hold-refused':
      run.verifies(made.verification);
      return made;
    case 'overtaken':
      return made;
    case 'refused':
    case 'no-revision':
      return { kind: 'ends', ending: made };
    case 'lost':
      return { kind: 'ends', ending: { kind: 'unsettled', what: whatIs[prepared.how], error: made.error } };
    default:
      return following(prepared, made);
  }
}

const whatIs = { created: 'creation', patched: 'change' } as const;

/**
 * Finds out what became of a change that an earlier run was about to send. A service that honours keys gets it again,
 * if it can be sent as it was.
 */
export async function resolvePrepared(
  { prepared, key }: DeployIn<'resolving'>,
  run: DeployRun,
): Promise<Seen['resolving']> {
  // What the environment before has proven may be another commit by now.
  const maySend = !prepared.isWithoutSecrets && run.request.after === undefined;
  if (maySend && (await honoursKeys(run))) return sendPrepared({ prepared, key }, run);
  // In what a service holds, a change of secrets shows by their values alone, and the plan knows those. A deployment of
  // this name may be anybody's, and the plan knows what stands in the way.
  const { isWithoutSecrets, how, sought } = prepared;
  const isRecognised = how !== 'created' && (!isWithoutSecrets || sought.trustsHidden);
  const found = isRecognised ? await findSent(prepared, run) : undefined;
  return found ? following(prepared, found) : { kind: 'not-made' };
}

/** Whether a request with the same key takes effect once, however often it is sent. */
export const honoursKeys = async (run: DeployRun): Promise<boolean> =>
  (await run.request.control.features(run.reading())).idempotencyKeys;

/** What was made of a request that an earlier run may have sent; undefined where nothing was. */
export async function findSent(sent: SentChange, run: DeployRun): Promise<Made | undefined> {
  run.known.writing = true;
  const found = await resolve(sent, undefined, { isLost: true, isSure: true }, run);
  run.known.writing = false;
  if (!found) return undefined;
  run.settled();
  return foundChange(found);
}

const foundChange = ({ deployment: { id: deploymentId }, revisionId }: ResolvedWrite): Made =>
  revisionId ? { kind: 'made', deploymentId, revisionId } : { kind: 'in-place', deploymentId };

function following(prepared: Prepared, made: Made): Extract<Seen['sending'], { kind: 'follows' | 'stays' | 'fills' }> {
  const { change, adopt, folder } = prepared;
  if (made.kind === 'in-place') return withoutChange(made.deploymentId, adopt);
  if (!folder || change.kind !== 'create') return { kind: 'follows', own: ownRevision(prepared, made) };
  const graphConfigPath = change.request.source_revision_config.graph_config_path ?? undefined;
  const { deploymentId, revisionId: waiting } = made;
  return { kind: 'fills', waits: { deploymentId, waiting, graphConfigPath, ...folder } };
}

/** Sends a change, and looks for its revision where no response names it. */
export async function makeChange(run: DeployRun, sent: SentChange, key: string): Promise<ChangeResult> {
  const response = await send(run, sent, key);
  if (response.kind === 'hold-refused' || response.kind === 'overtaken' || response.kind === 'refused') return response;
  const isLost = response.kind === 'lost';
  const first = response.kind === 'accepted' ? response.deployment : undefined;
  const found = response.kind === 'made' ? response : await resolve(sent, first, { isLost }, run);
  if (!isLost || found) run.settled();
  if (!isLost && sent.sought.makesRevision === false) return { kind: 'in-place', deploymentId: response.deployment.id };
  if (found) return foundChange(found);
  return isLost ? response : { kind: 'no-revision' };
}

/** Looks for the effect of a change. @param first the deployment in its response. */
async function resolve(
  { change, former, sought }: SentChange,
  first: Deployment | undefined,
  { isLost, isSure = false }: { isLost: boolean; isSure?: boolean },
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  if (change.kind === 'create') return resolveCreation(change.request, first?.id, resolveMs, run);
  if (first && sought.makesRevision === false) return undefined;
  const trustsHidden = !isLost || sought.trustsHidden;
  const before = { id: change.deploymentId, latest_revision_id: former };
  return resolveChange(before, { ...sought, trustsHidden }, { ms: isLost ? resolveMs : lagMs, isSure }, run);
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
async function send(run: DeployRun, sentChange: SentChange, key: string): Promise<SendResult> {
  const { change, former, holdSeconds, commit, buildOf, idleAfter } = sentChange;
  const { clock, control } = run.request;
  const once = (): Promise<SendResult> => {
    const by = senderOf(run);
    run.known.writing = true;
    return sendChange(change, { former, holdSeconds, commit, buildOf, idleAfter, key, verify: run.request.verify }, by);
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

/** What a write is found to have done. Without a revision it changed settings in place. */
interface ResolvedWrite {
  deployment: Deployment;
  revisionId: string | undefined;
}

/**
 * Polls until `look` finds what was written, for at most `ms`, or the run's timeout while it may be. With `isSure` it
 * throws where the last look failed: nothing is known then.
 */
async function pollUntilFound(
  { ms, isSure = false }: { ms: number; isSure?: boolean },
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
    if (clock.now() >= until && isSure && !seen.ok) throw seen.error;
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
  return pollUntilFound({ ms }, run, async () => {
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
  { ms, isSure }: { ms: number; isSure: boolean },
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  const { control } = run.request;
  const options = () => run.reading(Infinity);
  return pollUntilFound({ ms, isSure }, run, async () => {
    const deployment = run.saw(await control.getDeployment(id, options()));
    const { found } = await findEffect(sought, { deployment, former }, { control, options });
    // What has neither a commit nor a content can't turn out to be the one.
    if (found.kind === 'may-be') return sought.commit || sought.request ? 'may-be' : 'none';
    if (found.kind === 'none') return 'none';
    return { deployment, revisionId: found.kind === 'made' ? found.revision.id : undefined };
  });
}
