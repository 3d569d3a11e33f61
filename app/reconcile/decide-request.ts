import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { decideTrigger } from '../../src/deploy/rules/trigger.ts';
import type { ChangedPaths, Decision, SkipReason } from '../../src/deploy/rules/trigger-types.ts';
import { decisionWords } from '../../src/deploy/words/decision.ts';
import type { Head } from '../github/github-api.ts';
import { awaitGate, decideGates } from './await-gates.ts';
import { deadlineIn, isExpired } from './deadlines.ts';
import { withDecisionOutcome } from './outcomes.ts';
import { followFound } from './begin-following.ts';
import type { Ended, Intent, IntentHeader, IntentOutcomeKind, SkipDecision, UnsentIntent } from './intent.ts';
import { isRolledBackByOthers, isChanging, promotedFrom, promotionObstacle } from './promotion.ts';
import { formerOf, sendFor } from './send.ts';
import { discardAbandoned } from './held-revision.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import { observeDeployment, readerOf, type DeploymentObservation } from './observation.ts';
import type { DeploymentQueue } from './store.ts';
import {
  continued,
  headOf,
  reportsOf,
  requeueAfter,
  saveIntents,
  type ReconcileContext,
  type StepResult,
} from './reconcile-context.ts';

/** Poll interval for another client's revision while a request waits for it (ms). */
export const anothersMs = 5_000;

/** Waits for the revision of another client, at most as long as a revision is followed. */
export async function waitForAnother(
  work: ReconcileContext,
  intent: UnsentIntent,
  decision: Extract<Decision, { kind: 'wait' }>,
  commit: string | undefined,
): Promise<StepResult> {
  const former = intent.state === 'waiting' && intent.decision?.kind === 'wait' ? intent.decision : undefined;
  if (former?.revisionId !== decision.revisionId || former.code !== decision.code) {
    const until = intent.state === 'waiting' ? intent.deadline : undefined;
    const deadline = until ?? deadlineIn(work.context.clock, intent.id, intent.terms.timeoutMs);
    const busy = commit === undefined ? undefined : { commit, revisionId: decision.revisionId };
    await saveIntents(work, [{ ...intent, state: 'waiting', decision, deadline }], { busy });
  }
  const another = await findRevision(intent.deploymentId, decision.revisionId, readerOf(work));
  await discardAbandoned(work, intent.deploymentId, another);
  return requeueAfter(work, anothersMs);
}

/**
 * A revision of others that never ends must not keep pushes from being built for ever. What has waited too long for one
 * has done so whenever it is decided again.
 */
export const waitedTooLong = ({ context }: ReconcileContext, intent: UnsentIntent, revisionId: string): boolean =>
  intent.overdueFor === revisionId ||
  (intent.state === 'waiting' &&
    intent.deadline !== undefined &&
    isExpired(context.clock, intent.id, intent.deadline, intent.terms.timeoutMs));

/** How long the hosted service may take to make a revision of a push (ms). */
const hostedMs = 10 * 60_000;

/** Decides the deploy request for the head, and carries it out. Nothing of ours runs on the deployment. */
export async function decideRequest(
  work: ReconcileContext,
  deploymentQueue: DeploymentQueue,
  intent: UnsentIntent,
  head: Head,
): Promise<StepResult> {
  const { context } = work;
  const observation = await observeDeployment(work);
  const earlier = await context.store.intentsOf(intent.deploymentId, intent.commit);
  const reported = alreadyReported(intent, earlier, observation);
  if (reported) return join(work, intent, { kind: 'skip', ...reported }, earlier);
  const changed = await changedPaths(work, intent, observation);
  const { rolledBackCommit } = deploymentQueue;
  const from = promotedFrom(intent);
  const held = deploymentQueue.held ?? (await heldByOthers(work, intent, observation));
  const decision = decideTrigger({
    cause: intent.cause.kind,
    head,
    state: { live: observation.live, latest: observation.latest, rolledBackCommit, held },
    changed,
    rules: intent.terms.rules,
    promotedFrom: from?.name,
    holds: holdsPushes(intent),
  });
  context.log.info(
    { why: decisionWords(decision) },
    `decided ${intent.commit} on ${intent.deploymentId}: ${decision.kind}`,
  );
  switch (decision.kind) {
    case 'skip':
      if (isReportedByEarlier(intent, earlier, decision)) return join(work, intent, decision, earlier);
      return saveIntents(work, [withDecisionOutcome(intent, 'skipped', decision, context.clock.now())]);
    case 'hold':
      return saveIntents(
        work,
        [{ ...intent, state: 'paused', decision }],
        held === deploymentQueue.held ? {} : { held },
      );
    case 'adopt':
      return followFound(work, { ...intent, decision }, decision.revisionId, 'adopted', observation);
    case 'wait': {
      const { revisionId } = decision;
      if (!waitedTooLong(work, intent, revisionId))
        return waitForAnother(work, intent, decision, observation.latest?.commit);
      return trigger(
        work,
        { ...intent, overdueFor: revisionId },
        { kind: 'trigger', code: 'waited-too-long', revisionId },
        observation,
      );
    }
    case 'trigger':
      return trigger(work, intent, decision, observation);
  }
}

/** Ends it in favour of an earlier one, whose check it may have written over while it waited. */
async function join(
  work: ReconcileContext,
  intent: UnsentIntent,
  decision: SkipDecision,
  earlier: readonly Intent[],
): Promise<StepResult> {
  const reporter = endedBefore(intent, earlier);
  const reports = reporter ? reportsOf(work, reporter) : [];
  return saveIntents(work, [withDecisionOutcome(intent, 'joined', decision, work.context.clock.now())], { reports });
}

async function trigger(
  work: ReconcileContext,
  request: UnsentIntent,
  decision: Extract<Decision, { kind: 'trigger' }>,
  observation: DeploymentObservation,
): Promise<StepResult> {
  const { gate, intent } = await decideGates(work, request);
  if (gate.kind === 'await') return awaitGate(work, intent, gate);
  if (gate.kind === 'skip')
    return saveIntents(work, [withDecisionOutcome(intent, 'skipped', gate, work.context.clock.now())]);
  const decided = { ...intent, decision };
  // Stored, because what follows is tried for a while from now on, however long this waited.
  const hasWaited = request.decision?.kind === 'await' && request.decision.code !== 'earlier';
  if (request.state === 'waiting' && hasWaited)
    return saveIntents(work, [{ ...decided, state: 'waiting', waitedUntil: work.context.clock.now() }]);
  if (intent.terms.builder === 'service' && isOfItself(intent)) {
    // It made its revision already, and that ended: there is no other one to wait for.
    const { latest, deployment } = observation;
    if (latest?.phase === 'ended' && sameCommit(latest.commit, intent.commit)) {
      return followFound(work, decided, latest.id, 'found', observation);
    }
    const deadline = deadlineIn(work.context.clock, intent.id, Math.min(hostedMs, intent.terms.timeoutMs));
    return saveIntents(work, [{ ...decided, state: 'expecting', deadline, former: formerOf(deployment) }]);
  }
  // What was read of the service took its time: the head may be another by now.
  const from = promotedFrom(intent);
  const obstacle = from && (await promotionObstacle(work, intent, from));
  if (obstacle && (await isChanging(work.context, from)))
    return awaitGate(work, intent, { kind: 'await', code: 'earlier', name: from.name });
  if (obstacle) return saveIntents(work, [withDecisionOutcome(intent, 'skipped', obstacle, work.context.clock.now())]);
  const head = from ? undefined : await headOf(work, intent);
  if (!from && head?.sha !== intent.commit) return continued;
  // Until now it waited for another revision, or for the environment before, and none of that counts as tried.
  if (request.state !== 'waiting' || request.decision?.kind === 'trigger')
    return sendFor(work, decided, observation.deployment);
  const ready: UnsentIntent = { ...decided, state: 'waiting', waitedUntil: work.context.clock.now() };
  await saveIntents(work, [ready]);
  return sendFor(work, ready, observation.deployment);
}

/** Whether nothing arrives in its environment by itself. A service that builds pushes by itself waits for nobody. */
const holdsPushes = (intent: IntentHeader): boolean =>
  intent.terms.gate?.hold === true && !(intent.terms.builder === 'service' && isOfItself(intent));

/** The hold of a deployment of a later environment that a person rolled back in the console of the service. */
async function heldByOthers(
  work: ReconcileContext,
  intent: UnsentIntent,
  { deployment }: DeploymentObservation,
): Promise<DeploymentQueue['held']> {
  const isAutomatic = intent.cause.kind === 'promotion' || intent.cause.kind === 'rerun';
  if (!promotedFrom(intent) || !isAutomatic) return undefined;
  const isHeld = await isRolledBackByOthers(work, intent, deployment.active_revision_id);
  return isHeld ? { since: work.context.clock.now() } : undefined;
}

/** True without a person's request: the service builds pushes itself, but neither a Re-run nor a Redeploy. */
const isOfItself = ({ cause }: IntentHeader): boolean => cause.kind === 'push' || cause.kind === 'recovery';

/** The changes since the live commit, read only if a rule needs them. */
async function changedPaths(
  work: ReconcileContext,
  intent: UnsentIntent,
  { live, latest }: DeploymentObservation,
): Promise<ChangedPaths | undefined> {
  const { terms, repository, commit } = intent;
  if (!terms.rules.paths || !isOfItself(intent) || !live || latest?.phase === 'on-its-way') return undefined;
  if (live.commit === undefined) return { kind: 'unavailable', why: 'the commit of the live revision is unknown' };
  const comparison = await work.context.githubApi.compare(repository, live.commit, commit);
  if (comparison.kind === 'unavailable') return comparison;
  return { kind: 'known', paths: comparison.kind === 'ahead' ? comparison.paths : [] };
}

/** Ends that say what became of a revision, so that the same revision need not be followed once more. */
const ofRevision: readonly IntentOutcomeKind[] = [
  'deployed',
  'unproven',
  'broken',
  'failed',
  'discarded',
  'interrupted',
];
/** Outcomes without a revision; only a person's request starts another attempt. */
const ofNone: readonly IntentOutcomeKind[] = ['unknown', 'absent'];

/** Why a push changes nothing: an earlier one of the same commit has an outcome, and the service did nothing since. */
function alreadyReported(
  intent: UnsentIntent,
  sameCommits: readonly Intent[],
  observation: DeploymentObservation,
): SkipReason | undefined {
  if (!isOfItself(intent) && intent.cause.kind !== 'promotion') return undefined;
  const former = endedBefore(intent, sameCommits);
  if (!former) return undefined;
  const newest = observation.deployment.latest_revision_id;
  const { kind } = former.end;
  const isReported =
    (ofRevision.includes(kind) && former.revisionId !== undefined && former.revisionId === newest) ||
    (ofNone.includes(kind) && former.former?.latest === newest);
  // A revision with such an outcome that is live all the same is observed again.
  const serves = observation.live?.id === former.revisionId;
  if (!isReported || (serves && (kind === 'failed' || kind === 'interrupted'))) return undefined;
  return { code: 'already-reported', end: kind };
}

/** Whether the check of this commit already says why it is not built: it was rolled back there. */
function isReportedByEarlier(intent: UnsentIntent, sameCommits: readonly Intent[], decision: Decision): boolean {
  if (decision.kind !== 'skip' || decision.code !== 'rolled-back-before') return false;
  const kind = endedBefore(intent, sameCommits)?.end.kind;
  return kind === 'rolled-back' || kind === 'broken' || kind === 'skipped';
}

/** The newest earlier intent whose outcome the commit's check shows. */
const endedBefore = (intent: UnsentIntent, sameCommits: readonly Intent[]): Ended | undefined =>
  sameCommits
    .filter((each) => each.state === 'ended')
    .findLast(
      ({ id, end, cause, commit }) =>
        id !== intent.id && end.kind !== 'joined' && cause.kind !== 'failure' && sameCommit(commit, intent.commit),
    );
