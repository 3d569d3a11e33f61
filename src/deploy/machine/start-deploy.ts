import { frozenNow, type FrozenFacts } from '../rules/environment-gate.ts';
import type { ObservedState, Plan } from '../rules/plan-types.ts';
import { plan } from '../rules/plan.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { bindPlan } from './bind-plan.ts';
import type { DeployIn } from './deploy-state.ts';
import type { Seen } from './next.ts';
import { prepareChange } from './prepare-change.ts';
import { observe } from './observe.ts';
import { rememberConversations } from '../smoke/run-conversations.ts';
import type { DeployRun } from './deploy-run.ts';
import { watch } from './watch.ts';

/** Looks, plans and makes the plan ready to be sent. A dry run is the same, stopped after the plan. */
export async function startDeploy({ overtaken }: DeployIn<'requested'>, run: DeployRun): Promise<Seen['requested']> {
  const { planned, seen } = await planFromObservation(run);
  if (planned.kind === 'impossible') return { kind: 'ends', ending: run.impossible(planned.obstacles) };
  const obstacles = seen ? await bindPlan(planned, seen, run) : [];
  if (obstacles.length > 0) return { kind: 'ends', ending: run.impossible(obstacles) };
  run.decided(planned);
  const frozen = planned.kind === 'none' ? undefined : freezeOf(run);
  if (run.request.mode === 'plan') return { kind: 'ends', ending: { kind: 'planned' } };
  if (frozen) return { kind: 'ends', ending: { kind: 'frozen', ...frozen } };
  // The conflicting resource is not visible as a deployment, so another creation would fail too.
  if (planned.kind === 'create' && overtaken) throw overtaken;
  // What the new revision must go on with is read while the former one serves.
  const isNew = planned.kind === 'patch' ? planned.makesRevision : run.request.previewRun && planned.kind === 'create';
  if (isNew && run.request.wait) await rememberConversations(run);
  return prepareChange(planned, run);
}

/** The freeze that keeps a run from sending anything; it is noted where it does not. */
function freezeOf(run: DeployRun): FrozenFacts | undefined {
  const { gate, ignoresFreeze = false, mode, clock } = run.request;
  const frozen = frozenNow(gate, clock.now());
  if (frozen && (ignoresFreeze || mode === 'plan')) run.note({ code: 'frozen', ...frozen, isIgnored: ignoresFreeze });
  return ignoresFreeze ? undefined : frozen;
}

/**
 * Plans from the observed state. A revision in progress that does not report its commit yet may be the requested one:
 * restating the ref would queue a second revision and skip the first. So wait for its commit if the run may wait;
 * otherwise adopt it.
 */
async function planFromObservation(run: DeployRun): Promise<{ planned: Plan; seen?: ObservedState }> {
  for (;;) {
    const target = await observe(run);
    if (target.kind === 'impossible') return { planned: target };
    const { seen } = target;
    run.known.formerLive = target.live;
    run.known.formerDeployment = seen.deployment;
    const planned = plan(run.desired, seen);
    const mayWait = run.request.wait && run.request.mode === 'deploy';
    if (planned.kind === 'impossible' || planned.kind === 'create') return { planned, seen };
    if (!planned.unreportedCommit || !planned.adopt || !mayWait) return { planned, seen };
    if (!(await commitIsKnown(planned.deploymentId, planned.adopt, run))) return { planned, seen };
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
