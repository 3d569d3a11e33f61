import { conclude } from './conclude.ts';
import { expectRevision } from './expect.ts';
import { follow } from './follow.ts';
import { goBack } from './go-back.ts';
import type { Intent } from './intent.ts';
import { nextStep, runningOf, wishes, type Step } from './next-step.ts';
import { settle } from './settle.ts';
import { smokeStep } from './smoke-step.ts';
import type { Lane } from './store.ts';
import { takeWishes } from './take-wishes.ts';
import { isTrouble } from './trouble.ts';
import { onTrouble } from './on-trouble.ts';
import type { Came, Work } from './work.ts';

/** More steps than this in one go would be a lane that turns in a circle: it goes on with the next job. */
const mostSteps = 60;

/** Steps until nothing is to be done now. @returns when to look again (ms since the epoch), if at all by itself. */
export async function takeSteps(work: Work): Promise<number | undefined> {
  const { world, lease, signal } = work;
  const resting = new Map<string, number>();
  for (let steps = 0; steps < mostSteps; steps += 1) {
    if (signal.aborted) return world.clock.now();
    const lane = await world.store.lane(lease.deploymentId);
    const open = await world.store.openIntents(lease.deploymentId);
    if (steps === 0) letRest(open, lease.nextAt, resting);
    const step = nextStep(lane, open, resting);
    if (step.kind === 'rest') return step.until;
    const came = await taken(work, step, lane, open);
    if (came.kind === 'moved') continue;
    if (came.of !== undefined) resting.set(came.of, came.until);
    else resting.set(step.kind === 'wishes' ? wishes : step.intent.id, came.until);
  }
  world.log(`deployment ${lease.deploymentId} took ${mostSteps} steps at once, and goes on later`);
  return world.clock.now() + 1_000;
}

/** Who wakes a lane early has nothing to tell of a revision that is followed: it is looked at when its time has come. */
function letRest(open: readonly Intent[], nextAt: number | undefined, resting: Map<string, number>): void {
  const running = runningOf(open);
  if (nextAt !== undefined && running?.state === 'following') resting.set(running.id, nextAt);
}

async function taken(
  work: Work,
  step: Exclude<Step, { kind: 'rest' }>,
  lane: Lane,
  open: readonly Intent[],
): Promise<Came> {
  try {
    return await effectOf(work, step, lane, open);
  } catch (error) {
    // What the other parties fail with is expected wherever they are asked; what follows from it depends on the step.
    if (!isTrouble(error)) throw error;
    return onTrouble(work, step, open, error);
  }
}

function effectOf(
  work: Work,
  step: Exclude<Step, { kind: 'rest' }>,
  lane: Lane,
  open: readonly Intent[],
): Promise<Came> {
  switch (step.kind) {
    case 'settle':
      return settle(work, step.intent);
    case 'follow':
      return follow(work, step.intent);
    case 'smoke':
      return smokeStep(work, step.intent);
    case 'conclude':
      return conclude(work, step.intent);
    case 'wishes':
      return takeWishes(work, lane, open, step.busyWith);
    case 'go-back':
      return goBack(work, step.intent);
    case 'expect':
      return expectRevision(work, step.intent);
  }
}
