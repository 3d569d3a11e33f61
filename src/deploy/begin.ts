import type { ServiceError } from '../contract/service-error.ts';
import type { Plan } from '../decide/plan-types.ts';
import type { Rollout } from '../decide/rollout-types.ts';
import { plan } from '../decide/plan.ts';
import { classOfRevisionStatus } from '../contract/control/revision.ts';
import { carryOut, type Begun } from './carry-out.ts';
import { look } from './look.ts';
import type { Story } from './story.ts';
import { Watch } from './watch.ts';

/** How the beginning of the story ended: in something begun, or before anything was written. */
export type Beginning = Begun | { kind: 'impossible' } | { kind: 'planned' };

/** Looks, plans and carries the plan out. A dry run is the same, stopped after the plan. */
export async function begin(story: Story): Promise<Beginning> {
  let overtaken: ServiceError | undefined;
  for (let tries = 1; ; tries += 1) {
    const planned = story.decided(await planFromSight(story));
    if (planned.kind === 'impossible') return { kind: 'impossible' };
    if (story.request.mode === 'plan') return { kind: 'planned' };
    // What stood in the way of a creation and is not seen as a deployment will stand there again.
    if (planned.kind === 'create' && overtaken) throw overtaken;
    const begun = await carryOut(planned, story);
    // Of steps that begin at the same time the later ones go on from what the first one has made.
    if (begun.kind !== 'overtaken' || tries === mostTries) return begun;
    overtaken = begun.error;
  }
}

/** How often a plan is made where somebody else is faster each time. */
const mostTries = 5;

/**
 * The plan from what is there. A revision on its way that does not tell its commit yet may be the one that is asked
 * for: restating the ref would put a second one behind it and leave the first one skipped. So it is watched until it
 * tells, as long as the story may wait at all. A story that may not wait takes it for the one.
 */
async function planFromSight(story: Story): Promise<Plan> {
  for (;;) {
    const sighting = await look(story);
    if (sighting.kind === 'impossible') return sighting;
    const { seen } = sighting;
    story.known.formerLive = seen.live;
    story.known.formerDeployment = seen.deployment;
    const planned = plan(story.request.desired, seen);
    const mayWait = story.request.wait && story.request.mode === 'deploy';
    if (planned.kind === 'impossible' || planned.kind === 'create') return planned;
    if (!planned.untoldCommit || !planned.adopt || !mayWait) return planned;
    if (!(await commitIsTold(planned.deploymentId, planned.adopt, story))) return planned;
  }
}

/** Watches a revision until it tells its commit or ends. False when the time is over first. */
async function commitIsTold(deploymentId: string, revisionId: string, story: Story): Promise<boolean> {
  const { deadline, known } = story;
  const record = (rollout: Rollout) => {
    known.rollout = rollout;
  };
  const watch = new Watch(story, { deploymentId, revisionId, deadline, record });
  story.tell({ kind: 'waiting-for-commit', revisionId });
  let retryAfterMs: number | undefined;
  while (story.request.clock.now() < story.deadline) {
    await watch.untilNextLook(retryAfterMs);
    const looked = await watch.look();
    retryAfterMs = looked.ok ? undefined : looked.error.retryAfterMs;
    const { kind, builtCommit, seen } = watch.rollout;
    const isFinished = classOfRevisionStatus(seen.at(-1)?.status ?? '') === 'live';
    if (kind !== 'in-progress' || builtCommit || isFinished) return true;
  }
  return false;
}
