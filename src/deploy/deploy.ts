import type { Deployment } from '../contract/control/deployment.ts';
import { ServiceError } from '../contract/service-error.ts';
import { nameObstacles } from '../decide/plan-identity.ts';
import type { Plan } from '../decide/plan-types.ts';
import type { Rollout } from '../decide/rollout-types.ts';
import { begin } from './begin.ts';
import { conclude } from './conclude.ts';
import type { Ending } from './ending.ts';
import { find } from './find.ts';
import { follow } from './follow.ts';
import { goBack, takeBack } from './go-back.ts';
import { lastLogLines } from './log-lines.ts';
import { severalOfOneName } from './look.ts';
import type { Outcome } from './outcome-types.ts';
import { remove } from './remove.ts';
import { unasked } from './smoke.ts';
import { smokeLive } from './smoke-live.ts';
import { Story, type DeployRequest } from './story.ts';

/**
 * Tells the whole story: looks, plans, begins, follows, asks, and takes back where that was asked for. Whatever the
 * other party does, it ends in an outcome; only a mistake of our own is thrown.
 */
export async function deploy(request: DeployRequest): Promise<Outcome> {
  const story = new Story(request);
  const chapter = { deploy: ship, plan: ship, smoke: askOnly, rollback: rollBack, delete: remove }[request.mode];
  const ending = await toItsEnd(chapter, story);
  const outcome = conclude(request, story.known, ending, (text) => story.redact(text));
  story.tell({ kind: 'concluded', outcome });
  return outcome;
}

/** The story itself. A dry run is the same, stopped after the plan. */
async function ship(story: Story): Promise<Ending> {
  const begun = await begin(story); // looks, plans, and does the only writes
  if (begun.kind !== 'follow' && begun.kind !== 'kept') return begun;
  if (!story.request.wait) return { kind: begun.kind === 'kept' ? 'kept' : 'started' };
  if (begun.kind === 'follow') {
    const rollout = await followBegun(begun.deploymentId, begun.revisionId, story);
    if (rollout.kind !== 'live') return { kind: 'followed' };
  }
  const verdict = await smokeLive(story);
  story.known.verdict = verdict;
  if (verdict.kind === 'failed' && story.request.onFailure === 'rollback') {
    story.known.rollback = await takeBack(begun.kind === 'follow' ? begun.revisionId : undefined, story);
  }
  return { kind: begun.kind === 'kept' ? 'kept' : 'followed' };
}

async function followBegun(deploymentId: string, revisionId: string, story: Story): Promise<Rollout> {
  const { known, deadline } = story;
  const record = (rollout: Rollout) => {
    known.rollout = rollout;
  };
  const seen = known.rollout?.revisionId === revisionId ? known.rollout.seen : undefined;
  const rollout = await follow({ deploymentId, revisionId, deadline, seen, record }, story);
  if (rollout.kind === 'failed' || rollout.kind === 'timed-out') {
    known.logs = await lastLogLines(deploymentId, revisionId, story);
  }
  return rollout;
}

const askOnly = (story: Story): Promise<Ending> =>
  ofTheOneMeant(story, async (deployment) => {
    story.known.verdict = deployment.active_revision_id
      ? await smokeLive(story)
      : unasked(story.request.smokeTests, 'nothing-live', 'no revision is live');
    return { kind: 'asked' };
  });

const rollBack = (story: Story): Promise<Ending> =>
  ofTheOneMeant(story, async (deployment) => {
    story.known.rollback = await goBack(deployment, story);
    return { kind: 'gone-back' };
  });

/** A story of the deployment that is there, where nothing is planned. */
async function ofTheOneMeant(story: Story, told: (deployment: Deployment) => Promise<Ending>): Promise<Ending> {
  const [deployment, ...others] = await find(story);
  if (!deployment) return { kind: 'absent' };
  if (others.length > 0) return impossible(story, severalOfOneName([deployment, ...others]));
  const obstacles = nameObstacles(story.request.desired, deployment);
  return obstacles.length > 0 ? impossible(story, { kind: 'impossible', obstacles }) : told(deployment);
}

function impossible(story: Story, planned: Extract<Plan, { kind: 'impossible' }>): Ending {
  story.decided(planned);
  return { kind: 'impossible' };
}

/** The other party's failure and the end that was called from outside are ends like others. */
async function toItsEnd(chapter: (story: Story) => Promise<Ending>, story: Story): Promise<Ending> {
  try {
    return await chapter(story);
  } catch (error) {
    const { signal } = story.request;
    if (signal?.aborted && (error === signal.reason || error instanceof ServiceError)) return { kind: 'cancelled' };
    if (error instanceof ServiceError) return { kind: 'service-error', error };
    throw error;
  }
}
