import type { Deployment } from '../../contract/control/deployment.ts';
import { knownSecrets } from '../../contract/control/secret.ts';
import { isNotOffered, isTransient, ServiceError } from '../../contract/service-error.ts';
import { isOtherCommit, sameCommit } from '../rules/commit.ts';
import { nameObstacles, withoutRequest } from '../rules/plan-identity.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import { startDeploy } from './start-deploy.ts';
import { consolePageOf } from './console-page.ts';
import { type Ending, describeEnding } from '../words/describe-ending.ts';
import { findDeployments } from './find-deployments.ts';
import { type HeldRollout, watchRevision, watchUntilHeld } from './watch.ts';
import { abandonHeld, discardUntested, verificationOf, verifyHeld } from './verify-held.ts';
import { rollBackToFormer, rollBackFailedRevision } from './roll-back.ts';
import { liveAddress } from './live-address.ts';
import { lastLogLines } from '../smoke/log-lines.ts';
import { reportAmbiguousName } from './observe.ts';
import type { Outcome, OutcomeKind } from './outcome-types.ts';
import { remove } from './remove.ts';
import { successorOf } from './steps/successor.ts';
import { tryCall } from '../smoke/try-call.ts';
import { unprovenVerdict, smokeLive, type LiveVerdict } from '../smoke/smoke.ts';
import { rememberConversations } from '../smoke/run-conversations.ts';
import { DeployRun, type DeployRunRequest } from './deploy-run.ts';

/**
 * Runs a deploy: observes, plans, applies, follows the revision, runs the smoke tests, and rolls back if requested.
 * Failures of the services end in an outcome; only a bug throws.
 */
export async function deploy(request: DeployRunRequest): Promise<Outcome> {
  const run = new DeployRun(request);
  const steps = { deploy: deployOrPlan, plan: deployOrPlan, smoke: testOnly, rollback: rollBack, delete: remove }[
    request.mode
  ];
  const ending = await runToEnd(steps, run);
  await run.reported();
  const hasEnded = ending.kind !== 'cancelled' && ending.kind !== 'service-error';
  const [deploymentId, revisionId] = [run.known.deployment?.id, revisionOf(run)];
  const isShown = hasEnded && deploymentId && revisionId;
  const page = isShown ? await consolePageOf(deploymentId, revisionId, request) : undefined;
  const outcome = { ...conclude(run, ending), ...(page ? { consolePage: page } : {}) };
  run.emit({ kind: 'concluded', outcome });
  return outcome;
}

/** The steps of a run. A dry run stops after the plan. */
async function deployOrPlan(run: DeployRun): Promise<Ending> {
  for (const text of run.request.notes ?? []) run.note({ code: 'file', text });
  const started = await startDeploy(run); // observes, plans, and makes every write but a rollback
  if (started.kind !== 'follow' && started.kind !== 'kept') return started;
  if (!run.request.wait) return { kind: started.kind === 'kept' ? 'kept' : 'started' };
  if (started.kind === 'follow') {
    const rollout = await followStarted(started.deploymentId, started.revisionId, run);
    if (rollout.kind !== 'live') return { kind: 'followed' };
  }
  const followed = started.kind === 'follow' ? run.known.revisionId : undefined;
  const live = followed ?? run.known.deployment?.active_revision_id;
  const { verdict, current } = testedBefore(run) ?? (await smokeLive(run, live));
  run.known.verdict = verdict;
  if (verdict.kind !== 'none') run.known.verified ??= 'after-traffic';
  if (verdict.kind === 'failed') {
    run.known.rollback = await rollBackFailedRevision(followed, current, run);
  }
  return { kind: started.kind === 'kept' ? 'kept' : 'followed' };
}

/** The verdict on a revision that was tested before it got traffic, and the deployment as it was read when it was live. */
function testedBefore({ known: { verdict, deployment } }: DeployRun): LiveVerdict | undefined {
  return verdict && { verdict, ...(deployment ? { current: { ok: true, value: deployment } } : {}) };
}

async function followStarted(deploymentId: string, revisionId: string, run: DeployRun): Promise<Rollout> {
  const { known, deadline, record } = run;
  const seen = known.rollout?.revisionId === revisionId ? known.rollout.seen : undefined;
  const watched = { deploymentId, revisionId, deadline, seen, record };
  const isTestedHeld = (await verificationOf(run)).when === 'before-traffic';
  const seenLast = await (isTestedHeld ? watchUntilHeld : watchRevision)(watched, run);
  const rollout = seenLast.kind === 'in-progress' ? await decideHeld(deploymentId, seenLast, run) : seenLast;
  const successor = rollout.kind === 'superseded' ? await sameSuccessor(deploymentId, rollout, run) : undefined;
  if (successor !== undefined) {
    // What was measured and found is of the superseded one.
    for (const field of ['before', 'verdict', 'verified', 'rollout'] as const) delete known[field];
    known.revisionId = successor;
    known.isHoldOurs = false;
    run.emit({ kind: 'started', how: 'adopted', deploymentId, revisionId: successor });
    return followStarted(deploymentId, successor, run);
  }
  if (rollout.kind === 'failed' || rollout.kind === 'timed-out') {
    known.logs = await lastLogLines(deploymentId, revisionId, {
      control: run.request.control,
      options: () => run.reading(Infinity),
      lines: 50,
      characters: 2_000,
      redact: (text, most) => run.redactStart(text, most),
      missed: (log, error) =>
        run.note({ code: 'log-unread', log, ...(!isNotOffered(error) && { text: error.message }) }),
    });
  }
  return rollout;
}

/** The revision of the same commit that took the place of the followed one; one that reports late is waited for. */
async function sameSuccessor(
  deploymentId: string,
  rollout: Extract<Rollout, { kind: 'superseded' }>,
  run: DeployRun,
): Promise<string | undefined> {
  const { control, clock } = run.request;
  const commit = run.known.commit?.kind === 'known' ? run.known.commit.sha : undefined;
  if (!commit) return undefined;
  for (;;) {
    const found = await tryCall(successorOf(deploymentId, rollout, { control, options: () => run.reading() }));
    if (found.ok && sameCommit(found.value.commit, commit)) return found.value.id;
    const mayBe = found.ok ? found.value.mayReport : isTransient(found.error);
    if (!mayBe || clock.now() >= run.deadline) return undefined;
    await run.untilNextPoll(run.deadline, found.ok ? 0 : found.error.retryAfterMs);
  }
}

/** Tests a held revision; one of another commit than the only one that may be deployed is discarded untested. */
async function decideHeld(deploymentId: string, held: HeldRollout, run: DeployRun): Promise<Rollout> {
  if (!isOtherCommit(run.known.commit, held.builtCommit)) return verifyHeld(deploymentId, held, run);
  return discardUntested(deploymentId, held, 'It was built from another commit than the one that was requested.', run);
}

const testOnly = (run: DeployRun): Promise<Ending> =>
  withDeployment(run, async (deployment) => {
    for (const text of run.request.notes ?? []) run.note({ code: 'file', text });
    await rememberConversations(run);
    run.known.verdict = deployment.active_revision_id
      ? (await smokeLive(run, deployment.active_revision_id)).verdict
      : unprovenVerdict(run.request.smokeTests, 'nothing-live', 'no revision is live');
    return { kind: 'tested' };
  });

const rollBack = (run: DeployRun): Promise<Ending> =>
  withDeployment(run, async (deployment) => {
    run.known.rollback = await rollBackToFormer(deployment, run);
    return { kind: 'rollback-done' };
  });

/** A run on an existing deployment, without a plan. */
async function withDeployment(run: DeployRun, reported: (deployment: Deployment) => Promise<Ending>): Promise<Ending> {
  const [deployment, ...others] = await findDeployments(run);
  if (!deployment) return { kind: 'absent' };
  const obstacles =
    others.length > 0
      ? reportAmbiguousName([deployment, ...others]).obstacles
      : nameObstacles(run.request.desired, deployment);
  return obstacles.length > 0 ? run.impossible(obstacles) : reported(deployment);
}

/** Turns a failure of the service and a cancellation into an ending. */
async function runToEnd(steps: (run: DeployRun) => Promise<Ending>, run: DeployRun): Promise<Ending> {
  try {
    return await steps(run);
  } catch (error) {
    const { signal } = run.request;
    if (signal?.aborted && (error === signal.reason || error instanceof ServiceError)) {
      return { kind: 'cancelled', discarded: await abandonHeld(run) };
    }
    if (error instanceof ServiceError) return { kind: 'service-error', error };
    throw error;
  }
}

const passing = new Set<OutcomeKind>(['deployed', 'unchanged', 'planned', 'started', 'deleted', 'neutral']);

/** The revision that the outcome is about. */
function revisionOf({ request, known: { rollback, revisionId } }: DeployRun): string | undefined {
  const rolledBackTo = request.mode === 'rollback' && rollback && 'rollout' in rollback ? rollback.rollout : undefined;
  return rolledBackTo?.revisionId ?? revisionId;
}

/** The outcome of a deploy run, from its ending and what is known. */
function conclude(run: DeployRun, ending: Ending): Outcome {
  const { request, known } = run;
  const { kind, reason, advice } = describeEnding(request, known, ending);
  const isAgentShown = (known.logs ?? []).length > 0 || (known.verdict && known.verdict.tests.length > 0);
  if (isAgentShown && known.deployment && !knownSecrets(known.deployment.secrets)) {
    run.note({ code: 'secrets-unmasked' });
  }
  const { deployment, plan, rollout, verdict, verified, rollback, logs } = known;
  const revisionId = revisionOf(run);
  const name = deployment?.name ?? request.desired.name;
  const id = deployment?.id ?? request.desired.deploymentId;
  const { desired } = request;
  const repoUrl = deployment?.source_config.repo_url ?? (desired.source === 'github' ? desired.repoUrl : undefined);
  // A deleted deployment serves nothing.
  const serving = kind === 'deleted' ? undefined : deployment;
  const url = kind === 'deleted' ? undefined : liveAddress(run);
  return {
    kind,
    reason: run.redact(reason),
    ...(advice ? { advice: run.redact(advice) } : {}),
    passes: passes(kind, request),
    ...(name ? { deploymentName: name } : {}),
    ...(id ? { deploymentId: id } : {}),
    ...(revisionId ? { revisionId } : {}),
    ...(repoUrl ? { repoUrl } : {}),
    ...(serving?.active_revision_id ? { activeRevisionId: serving.active_revision_id } : {}),
    ...(url ? { deploymentUrl: url } : {}),
    ...(plan ? { plan: withoutRequest(plan) } : {}),
    changed: known.changed,
    ...(rollout ? { rollout } : {}),
    ...(verdict ? { verdict } : {}),
    ...(verified ? { verified } : {}),
    ...(rollback ? { rollback } : {}),
    ...(logs ? { logs } : {}),
    notes: known.notes.map((note) => run.noteText(note)),
  };
}

/** A rollback passes only if it was requested: after a failed deploy it is a recovery, not a success. */
function passes(kind: OutcomeKind, { mode, onSuperseded }: DeployRunRequest): boolean {
  if (kind === 'rolled-back') return mode === 'rollback';
  if (kind === 'superseded') return onSuperseded === 'pass';
  return passing.has(kind);
}
