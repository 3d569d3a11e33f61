import type { Deployment } from '../../contract/control/deployment.ts';
import { knownSecrets } from '../../contract/control/secret.ts';
import { passesBy } from '../../contract/outcome-kinds.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { nameObstacles } from '../rules/plan-identity.ts';
import { rememberConversations } from '../smoke/run-conversations.ts';
import { smokeLive, unprovenVerdict } from '../smoke/smoke.ts';
import { describeEnding } from '../words/describe-ending.ts';
import { carryOn } from './carry-on.ts';
import { consolePageOf } from './console-page.ts';
import { DeployRun, type DeployRunRequest } from './deploy-run.ts';
import { namedBy } from '../file/desired.ts';
import type { Ending } from './deploy-state.ts';
import { findDeployments } from './find-deployments.ts';
import { builtFromOf } from './built-from.ts';
import { deploymentOf, isOver, resumeDeploy } from './journal.ts';
import { ambiguousName } from './observe.ts';
import type { Outcome } from './outcome-types.ts';
import { remove } from './remove.ts';
import { findFormer } from './roll-back.ts';
import { abandonHeld } from './verify-held.ts';
import { liveAddress } from './live-agents.ts';

/**
 * Runs a deploy: observes, plans, applies, follows the revision, runs the smoke tests, and rolls back if requested.
 * Failures of the services end in an outcome; only a bug throws.
 */
export async function deploy(request: DeployRunRequest): Promise<Outcome> {
  const run = new DeployRun(request);
  const work = { deploy: deployOrPlan, plan: deployOrPlan, smoke: testOnly, rollback: rollBack, delete: remove }[
    request.mode
  ];
  const ending = await runToEnd(work, run);
  await run.reported();
  const hasEnded = ending.kind !== 'cancelled' && ending.kind !== 'service-error';
  const [deploymentId, revisionId] = [run.known.deployment?.id, revisionOf(run)];
  const isShown = hasEnded && deploymentId && revisionId;
  const page = isShown ? await consolePageOf(deploymentId, revisionId, request) : undefined;
  if (isOver(ending, run.known)) await run.keep({ state: 'ended', ending });
  const outcome = { ...conclude(run, ending), ...(page ? { consolePage: page } : {}) };
  run.emit({ kind: 'concluded', outcome });
  return outcome;
}

async function deployOrPlan(run: DeployRun): Promise<Ending> {
  for (const text of run.request.notes ?? []) run.note({ code: 'file', text });
  const { kept } = run.request;
  return carryOn(kept ? await resumeDeploy(kept, run) : { state: 'requested', tries: 1 }, run);
}

const testOnly = (run: DeployRun): Promise<Ending> =>
  withDeployment(run, async (deployment) => {
    for (const text of run.request.notes ?? []) run.note({ code: 'file', text });
    await rememberConversations(run);
    const { verdict } = deployment.active_revision_id
      ? await smokeLive(run, deployment.active_revision_id)
      : { verdict: unprovenVerdict(run.request.smokeTests, 'nothing-live', 'no revision is live') };
    run.deploy = { state: 'serving', result: { verdict } };
    return { kind: 'tested' };
  });

const rollBack = (run: DeployRun): Promise<Ending> =>
  withDeployment(run, async (deployment) => {
    const { kept } = run.request;
    if (kept && deploymentOf(kept.deploy) === deployment.id) return carryOn(await resumeDeploy(kept, run), run);
    const former = await findFormer(deployment, run);
    if ('state' in former) return carryOn(former, run);
    run.known.rollback = former;
    return { kind: 'rollback-done' };
  });

/** A run on an existing deployment, without a plan. */
async function withDeployment(run: DeployRun, reported: (deployment: Deployment) => Promise<Ending>): Promise<Ending> {
  const [deployment, ...others] = await findDeployments(run);
  if (!deployment) return { kind: 'absent' };
  const obstacles =
    others.length > 0 ? [ambiguousName([deployment, ...others])] : nameObstacles(namedBy(run.request), deployment);
  return obstacles.length > 0 ? run.impossible(obstacles) : reported(deployment);
}

/** Turns a failure of the service and a cancellation into an ending. */
async function runToEnd(work: (run: DeployRun) => Promise<Ending>, run: DeployRun): Promise<Ending> {
  try {
    return await work(run);
  } catch (error) {
    const { signal } = run.request;
    if (isCancellation(error, signal)) {
      return { kind: 'cancelled', discarded: await abandonHeld(run) };
    }
    if (error instanceof ServiceError) return { kind: 'service-error', error };
    throw error;
  }
}

/** Whether an error is of the cancellation of a run, or of a request that it ended. */
export const isCancellation = (error: unknown, signal: AbortSignal | undefined): boolean =>
  signal?.aborted === true && (error === signal.reason || error instanceof ServiceError);

/** The revision that the outcome is about. */
function revisionOf({ request, own, known: { rollback } }: DeployRun): string | undefined {
  const rolledBackTo = request.mode === 'rollback' && rollback && 'rollout' in rollback ? rollback.rollout : undefined;
  return rolledBackTo?.revisionId ?? own?.revisionId;
}

/** The outcome of a deploy run, from its ending and what is known. */
function conclude(run: DeployRun, ending: Ending): Outcome {
  const { request, known } = run;
  const { kind, reason, advice } = describeEnding(run, ending);
  const { verdict, verified } = run.result ?? {};
  const isAgentShown = (known.logs ?? []).length > 0 || (verdict && verdict.tests.length > 0);
  if (isAgentShown && known.deployment && !knownSecrets(known.deployment.secrets)) {
    run.note({ code: 'secrets-unmasked' });
  }
  const { deployment, plan, rollout, rollback, logs } = known;
  const revisionId = revisionOf(run);
  const builtFrom = builtFromOf(run, revisionId);
  const named = namedBy(request);
  const name = deployment?.name ?? named.name;
  const id = deployment?.id ?? named.deploymentId;
  const desired = 'desired' in request ? request.desired : undefined;
  const repoUrl = deployment?.source_config.repo_url ?? (desired?.source === 'github' ? desired.repoUrl : undefined);
  // A deleted deployment serves nothing.
  const serving = kind === 'deleted' ? undefined : deployment;
  const url = kind === 'deleted' ? undefined : liveAddress(run);
  return {
    kind,
    reason: run.redact(reason),
    ...(advice ? { advice: run.redact(advice) } : {}),
    passes: passesBy(kind, request.mode, request.onSuperseded),
    ...(name ? { deploymentName: name } : {}),
    ...(id ? { deploymentId: id } : {}),
    ...(revisionId ? { revisionId } : {}),
    ...(repoUrl ? { repoUrl } : {}),
    ...(serving?.active_revision_id ? { activeRevisionId: serving.active_revision_id } : {}),
    ...(deployment ? { tenantId: deployment.tenant_id } : {}),
    ...(builtFrom ? { builtFrom } : {}),
    ...(url ? { deploymentUrl: url } : {}),
    ...(plan ? { plan } : {}),
    changed: known.changed,
    ...(rollout ? { rollout } : {}),
    ...(verdict ? { verdict } : {}),
    ...(verified ? { verified } : {}),
    ...(rollback ? { rollback } : {}),
    ...(logs ? { logs } : {}),
    notes: known.notes.map((note) => run.noteText(note)),
  };
}
