import type { ServiceError } from '../../contract/service-error.ts';
import type { Plan } from '../rules/plan-types.ts';
import { plan } from '../rules/plan.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { applyPlan, type ApplyResult } from './apply-plan.ts';
import { observe } from './observe.ts';
import { rememberConversations } from '../smoke/run-conversations.ts';
import type { DeployRun } from './deploy-run.ts';
import { watch } from './watch.ts';

/** How the start of the deploy run ended: with a started rollout, or before any write. */
export type StartResult = ApplyResult | { kind: 'impossible' } | { kind: 'planned' };

/** Looks, plans and carries the plan out. A dry run is the same, stopped after the plan. */
export async function startDeploy(run: DeployRun): Promise<StartResult> {
  let overtaken: ServiceError | undefined;
  for (let tries = 1; ; tries += 1) {
    const planned = run.decided(await planFromObservation(run));
    if (planned.kind === 'impossible') return { kind: 'impossible' };
    if (run.request.mode === 'plan') return { kind: 'planned' };
    // The conflicting resource is not visible as a deployment, so another creation would fail too.
    if (planned.kind === 'create' && overtaken) throw overtaken;
    // What the new revision must go on with is read while the former one serves.
    if (planned.kind === 'patch' && planned.makesRevision && run.request.wait) await rememberConversations(run);
    const started = await applyPlan(planned, run);
    // Of concurrent runs, the later ones continue from what the first one made.
    if (started.kind !== 'overtaken' || tries === mostTries) return started;
    overtaken = started.error;
  }
}

/** How often to plan again when another client is faster each time. */
const mostTries = 5;

/**
 * Plans from the observed state. A revision in progress that does not report its commit yet may be the requested one:
 * restating the ref would queue a second revision and skip the first. So wait for its commit if the run may wait;
 * otherwise adopt it.
 */
async function planFromObservation(run: DeployRun): Promise<Plan> {
  for (;;) {
    const target = await observe(run);
    if (target.kind === 'impossible') return target;
    const { seen } = target;
    run.known.formerLive = target.live;
    run.known.formerDeployment = seen.deployment;
    const planned = plan(run.request.desired, seen);
    const mayWait = run.request.wait && run.request.mode === 'deploy';
    if (planned.kind === 'impossible' || planned.kind === 'create') return planned;
    if (!planned.unreportedCommit || !planned.adopt || !mayWait) return planned;
    if (!(await commitIsKnown(planned.deploymentId, planned.adopt, run))) return planned;
  }
}

/** Watches a revision until it reports its commit or ends. Returns false on timeout. */
async function commitIsKnown(deploymentId: string, revisionId: string, run: DeployRun): Promise<boolean> {
  const { deadline, record } = run;
  const { look, rollout, untilNextLook } = watch(run, { deploymentId, revisionId, deadline, record });
  run.emit({ kind: 'waiting-for-commit', revisionId });
  let retryAfterMs: number | undefined;
  while (run.request.clock.now() < run.deadline) {
    await untilNextLook(retryAfterMs);
    const looked = await look();
    retryAfterMs = looked.ok ? undefined : looked.error.retryAfterMs;
    const { kind, builtCommit, seen } = rollout();
    const isFinished = classOfRevisionStatus(seen.at(-1)?.status ?? '') === 'live';
    if (kind !== 'in-progress' || builtCommit || isFinished) return true;
  }
  return false;
}
