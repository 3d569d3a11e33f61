import { sameCommit } from '../../src/decide/commit.ts';
import { beginFollowing } from './begin-following.ts';
import { ended } from './end-words.ts';
import type { Intent } from './intent.ts';
import { look, madeSince } from './sight.ts';
import { headOf, keep, moved, restFor, type Came, type Work } from './work.ts';

const lookMs = 10_000;

/** The hosted service builds pushes by itself: its revision of this commit is looked for, and none is made. */
export async function expectRevision(work: Work, intent: Intent): Promise<Came> {
  const { world } = work;
  const sight = await look(work);
  const made = await madeSince(work, sight, intent.formerLatestRevisionId ?? null);
  const standing = [...made, ...(sight.live ? [sight.live] : [])];
  const ours = standing.find(({ commit, standing: how }) => how !== 'ended' && sameCommit(commit, intent.commit));
  const orEnded = ours ?? made.find(({ commit }) => sameCommit(commit, intent.commit));
  if (orEnded) return beginFollowing(work, intent, orEnded.id, 'found', sight);
  const now = world.clock.now();
  const isUntold = made.some(({ commit, standing: how }) => commit === undefined && how === 'on-its-way');
  const mayTell = isUntold && now < intent.createdAt + intent.terms.timeoutMs;
  if (now < (intent.deadline ?? now) || mayTell) return restFor(work, lookMs);
  const head = await headOf(work, intent);
  if (head?.sha !== intent.commit) {
    // Another commit is the head by now: the wishes are sorted once more, and this one with them.
    const { deadline: _, ...rest } = intent;
    await keep(work, [{ ...rest, state: 'wished' }]);
    return moved;
  }
  await keep(work, [
    ended(
      intent,
      {
        kind: 'absent',
        reason: 'The service builds pushes by itself, and made no revision of this commit in time.',
        advice: "Check build_on_push and the service's access to the repository, or press Re-run to have the App ask.",
      },
      now,
    ),
  ]);
  return moved;
}
