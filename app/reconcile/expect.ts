import { sameCommit } from '../../src/planning/commit.ts';
import { beginFollowing } from './begin-following.ts';
import { isOver } from './deadlines.ts';
import { ended } from './outcomes.ts';
import type { Intent } from './intent.ts';
import { look, madeSince } from './observation.ts';
import { headOf, keep, continued, requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';

const lookMs = 10_000;

/** The hosted service builds pushes by itself: waits for its revision of this commit, and makes none. */
export async function expectRevision(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const { context } = work;
  const observation = await look(work);
  const made = await madeSince(work, observation, intent.formerLatestRevisionId ?? null);
  const standing = [...made, ...(observation.live ? [observation.live] : [])];
  const ours = standing.find(({ commit, standing: how }) => how !== 'ended' && sameCommit(commit, intent.commit));
  const orEnded = ours ?? made.find(({ commit }) => sameCommit(commit, intent.commit));
  if (orEnded) return beginFollowing(work, intent, orEnded.id, 'found', observation);
  const { id, deadline, createdAt, terms } = intent;
  const isUnreported = made.some(({ commit, standing: how }) => commit === undefined && how === 'on-its-way');
  const mayReport = isUnreported && !isOver(context.clock, id, createdAt + terms.timeoutMs, terms.timeoutMs);
  const isOpen = deadline !== undefined && !isOver(context.clock, id, deadline, terms.timeoutMs);
  if (isOpen || mayReport) return requeueAfter(work, lookMs);
  const head = await headOf(work, intent);
  if (head?.sha !== intent.commit) {
    // Another commit is the head by now: sort the requests again, this one included.
    const { deadline: _, ...rest } = intent;
    await keep(work, [{ ...rest, state: 'requested' }]);
    return continued;
  }
  await keep(work, [
    ended(
      intent,
      {
        kind: 'absent',
        reason: 'The service builds pushes by itself, and made no revision of this commit in time.',
        advice:
          "Check build_on_push and the service's access to the repository, or press Re-run to have the App request it.",
      },
      context.clock.now(),
    ),
  ]);
  return continued;
}
