import { agentAddress, type Deployment } from '../../src/contract/control/deployment.ts';
import { knownSecrets } from '../../src/contract/control/secret.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { afterLook, type NotLive } from '../../src/deploy/machine/after-look.ts';
import { consolePageOf } from '../../src/deploy/machine/console-page.ts';
import { observeRevision } from '../../src/deploy/machine/observe-revision.ts';
import { isExpired } from './deadlines.ts';
import { beginHeldTests } from './held-revision.ts';
import { discardOutcome, intentRolloutOutcome, otherCommitOutcome } from './outcomes.ts';
import { deploysCommit, requestAfter } from './deploy-request.ts';
import type { Bound, Following } from './intent.ts';
import {
  saveIntents,
  continued,
  endIntent,
  readOptions,
  requeueAfter,
  headOf,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { mayContain } from './contained-commits.ts';
import type { LogEntry } from '../../src/contract/control/log.ts';
import { maskOf, maskStart, type Mask } from '../../src/contract/masking/mask.ts';
import { lastLogLines } from '../../src/deploy/smoke/log-lines.ts';
import { rolloutOf } from '../../src/deploy/machine/state.ts';
import { successorOf } from '../../src/deploy/machine/steps/read-deployment.ts';

/** The longest time between two looks, the shortest (ms), and how it grows with the time since the first one. */
const maxMs = 5_000;
const leastMs = 1_000;
const share = 0.25;
/** How often an unchanged check is updated to show that the revision is still watched (ms). */
const heartbeatMs = 15_000;

/** Looks once at the revision that is followed, by its id. */
export async function followRevision(work: ReconcileContext, intent: Following): Promise<StepResult> {
  const { revisionId, rollout: before } = intent;
  // A superseded revision stays superseded; its successor is still to be reported.
  if (before.kind === 'superseded') return handleSuperseded(work, intent, before);
  const { rollout, deployment } = await observe(work, intent);
  const { control, clock } = work.context;
  const consolePage =
    before.seen.length === 0
      ? await consolePageOf(intent.deploymentId, revisionId, { control, clock, signal: work.signal })
      : undefined;
  const followed = { ...intent, rollout, ...(consolePage ? { consolePage } : {}) };
  const result = await handleRollout(work, followed, before, deployment);
  await work.context.step?.('followed-once', intent.id);
  return result;
}

async function handleRollout(
  work: ReconcileContext,
  intent: Following,
  before: Bound['rollout'],
  deployment: Deployment | undefined,
): Promise<StepResult> {
  const { clock } = work.context;
  const { id, deadline, rollout, terms, sending, commit, holdSeconds, verdict } = intent;
  const { builtCommit: built } = rollout;
  if (deploysCommit(sending) && built !== undefined && !sameCommit(built, commit))
    return builtAnother(work, intent, built);
  const untilHeld = holdSeconds !== undefined && !verdict;
  const seen = afterLook(rollout, { untilHeld, isOver: isExpired(clock, id, deadline, terms.timeoutMs) });
  if (!seen) {
    const now = clock.now();
    const isNews = rollout.seen.length > before.seen.length || built !== before.builtCommit;
    if (isNews || Math.abs(now - intent.updatedAt) >= heartbeatMs) await saveIntents(work, [intent]);
    const waited = now - (deadline - terms.timeoutMs);
    return requeueAfter(work, Math.min(maxMs, Math.max(leastMs, share * waited)));
  }
  if (seen.kind === 'in-progress') return beginHeldTests(work, intent, seen.hold);
  if (seen.kind === 'live') return live(work, intent, deployment);
  return seen.kind === 'superseded' ? saveIntents(work, [intent]) : endNotLive(work, intent, seen, deployment);
}

async function live(
  work: ReconcileContext,
  intent: Following,
  deployment: Deployment | undefined,
): Promise<StepResult> {
  const agentUrl = deployment && agentAddress(deployment);
  const { verdict } = intent;
  const served = { ...intent, ...(agentUrl ? { agentUrl } : {}) };
  await saveIntents(work, [verdict ? { ...served, state: 'concluding', verdict } : { ...served, state: 'testing' }]);
  await work.context.step?.('smoke-began', intent.id);
  return continued;
}

async function endNotLive(
  work: ReconcileContext,
  intent: Following,
  rollout: NotLive,
  known: Deployment | undefined,
): Promise<StepResult> {
  if (rollout.kind === 'interrupted' && rollout.hold?.kind === 'discarded')
    return endIntent(work, { ...intent, rollout }, discardOutcome(intent, rollout.statusMessage));
  const logs = rollout.kind === 'failed' ? await logTail(work, intent.deploymentId, rollout.revisionId, known) : [];
  const end = { ...intentRolloutOutcome(intent, rollout), ...(logs.length > 0 ? { logs } : {}) };
  return endIntent(work, { ...intent, rollout }, end);
}

/** Observes the revision. A new message is shown without the secrets of the deployment, which is read for them. */
async function observe(
  work: ReconcileContext,
  { deploymentId, rollout: before }: Following,
): Promise<{ rollout: Bound['rollout']; deployment: Deployment | undefined }> {
  const { control, clock } = work.context;
  const options = () => readOptions(work);
  let deployment: Deployment | undefined;
  const { rollout } = await observeRevision(before, {
    deploymentId,
    control,
    options,
    now: () => clock.now(),
    shown: async ({ message, status, whole }) => {
      const isNew = message && before.seen.at(-1)?.status !== status;
      deployment = whole ?? (isNew ? await control.getDeployment(deploymentId, options()) : undefined);
      return message ? maskOfSecrets(deployment)?.(message) : undefined;
    },
  });
  return { rollout, deployment };
}

/** Masks the deployment's secrets; undefined if they are unknown, or the service hides any. */
function maskOfSecrets(deployment: Deployment | undefined): Mask | undefined {
  const secrets = knownSecrets(deployment?.secrets);
  return secrets && maskOf(secrets.map(({ value }) => value));
}

/**
 * The branch moved between the push and the build: reports the commit that was built, and requests the head, so that
 * it gets its own check, whether it is the revision just made or another one.
 */
async function builtAnother(work: ReconcileContext, intent: Following, built: string): Promise<StepResult> {
  // What the environment before proves next is requested then.
  const head = intent.sending.kind === 'promote' ? undefined : await headOf(work, intent);
  const contains = await mayContain(work, intent.repository, intent.commit, built);
  return endIntent(work, intent, otherCommitOutcome(intent, intent.revisionId, built, contains), {
    requests: head ? [requestAfter(intent, head.sha, work.context.clock.now())] : [],
  });
}

const pollMs = 5_000;

/**
 * A newer revision superseded the followed one. One of the same commit is followed instead: an Action also requested
 * it. Any other is named in the outcome, with its commit if known.
 */
async function handleSuperseded(
  work: ReconcileContext,
  intent: Following,
  rollout: Extract<Bound['rollout'], { kind: 'superseded' }>,
): Promise<StepResult> {
  const { control, clock } = work.context;
  const { deploymentId, deadline } = intent;
  const { id, commit, mayReport } = await successorOf(deploymentId, rollout, {
    control,
    options: () => readOptions(work),
  });
  const superseded = id ? { ...rollout, by: id } : rollout;
  if (id && deploysCommit(intent.sending) && sameCommit(commit, intent.commit)) {
    // The verdict was about the superseded one.
    const { verdict: _v, verified: _b, compared: _c, holdSeconds: _h, ...rest } = intent;
    return saveIntents(work, [{ ...rest, revisionId: id, how: 'adopted', rollout: rolloutOf(id) }]);
  }
  const isOpen = !isExpired(clock, intent.id, deadline, intent.terms.timeoutMs);
  if (mayReport && isOpen) return requeueAfter(work, pollMs);
  if (!commit) return endIntent(work, intent, intentRolloutOutcome(intent, superseded));
  const contains = await mayContain(work, intent.repository, intent.commit, commit);
  const end = intentRolloutOutcome(intent, superseded, commit);
  return endIntent(work, intent, { ...end, by: { commit, contains } });
}

/** Stored part of a failed revision's logs: lines, and characters of one line. */
const [lines, characters] = [30, 1_000];

/** The last lines of a revision's logs, oldest first, without the deployment's secrets; none if these are unknown. */
async function logTail(
  work: ReconcileContext,
  deploymentId: string,
  revisionId: string,
  known: Deployment | undefined,
): Promise<LogEntry[]> {
  const { control, log } = work.context;
  const read = known ? undefined : await tryCall(control.getDeployment(deploymentId, readOptions(work)));
  const mask = maskOfSecrets(read?.ok ? read.value : known);
  if (!mask) return [];
  const logs = await lastLogLines(deploymentId, revisionId, {
    control,
    options: () => readOptions(work),
    lines,
    characters,
    redact: (text, most) => maskStart(mask, text, most),
    missed: (_, error) => log.warn({ deployment: deploymentId }, `log lines could not be read: ${error.message}`),
  });
  return logs.slice(-lines);
}
