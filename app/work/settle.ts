import { sameCommit } from '../../src/decide/commit.ts';
import type { RevisionSeen } from '../../src/decide/trigger-types.ts';
import { beginFollowing } from './begin-following.ts';
import { mayContain } from './contains.ts';
import { builtAsAnother, ended, noRevision, unknownEffect } from './end-words.ts';
import type { Intent } from './intent.ts';
import { request, settleMs } from './send.ts';
import { commitOfTarget, look, madeSince, type Sight } from './sight.ts';
import { wishAfter } from './follow-up-wishes.ts';
import { headOf, keep, moved, reading, restFor, type Came, type Work } from './work.ts';

/** How often it is looked what became of a request (ms). */
const lookMs = 3_000;

/** For how long a service that heeds keys is taken to know one (ms). */
export const keysLastMs = 6 * 24 * 60 * 60_000;

/**
 * Finds out what became of a request whose answer nobody has. A service that heeds idempotency keys is sent the same
 * again and answers as the first time. Any other one is looked at, and never sent to again.
 */
export async function settle(work: Work, intent: Intent): Promise<Came> {
  const { world } = work;
  const { idempotencyKeys } = await world.control.features(reading(work));
  // A service forgets keys after a while; ours knows them for 7 days.
  const isRemembered = world.clock.now() - (intent.sentAt ?? 0) < keysLastMs;
  if (!idempotencyKeys || !isRemembered) return byLooking(work, intent);
  const sends = (intent.sends ?? 1) + 1;
  // An answer that tells no revision, again and again, is the answer.
  if (sends > 3 && world.clock.now() >= deadlineOf(intent) && (await nothingNew(work, intent))) {
    await keep(work, [ended(intent, noRevision(), world.clock.now())]);
    return moved;
  }
  const again: Intent = { ...intent, sends };
  await keep(work, [again]);
  return request(work, again);
}

const deadlineOf = ({ deadline, sentAt = 0 }: Intent): number => deadline ?? sentAt + settleMs;

/** Whether the service answers and has made nothing since. */
async function nothingNew(work: Work, { formerLatestRevisionId }: Intent): Promise<boolean> {
  const { deployment } = await look(work);
  return deployment.latest_revision_id === (formerLatestRevisionId ?? null);
}

async function byLooking(work: Work, intent: Intent): Promise<Came> {
  const sight = await look(work);
  const made = await madeSince(work, sight, intent.formerLatestRevisionId ?? null);
  const wanted = intent.sending.kind === 'restate' ? intent.commit : await commitOfTarget(work, intent);
  const ours = made.find(({ commit }) => sameCommit(commit, wanted));
  if (ours) return beginFollowing(work, intent, ours.id, 'triggered');
  const now = work.world.clock.now();
  const untold = made.find(({ commit, standing }) => commit === undefined && standing === 'on-its-way');
  const mayTell = untold !== undefined && now < (intent.sentAt ?? now) + intent.terms.timeoutMs;
  if (now < deadlineOf(intent) || mayTell) return restFor(work, lookMs);
  return unsettled(work, intent, made, sight);
}

/** The time for looking is over, and no revision of this commit is seen. */
async function unsettled(work: Work, intent: Intent, made: readonly RevisionSeen[], sight: Sight): Promise<Came> {
  const now = work.world.clock.now();
  const head = intent.sending.kind === 'restate' ? await headOf(work, intent) : undefined;
  const ofHead = head && made.find(({ commit }) => sameCommit(commit, head.sha));
  if (head && ofHead) {
    const contains = await mayContain(work, intent.repository, intent.commit, head.sha);
    const bound: Intent = { ...intent, revisionId: ofHead.id, builtCommit: head.sha };
    await keep(work, [ended(bound, builtAsAnother(bound, head.sha, contains), now)], {
      wishes: [wishAfter(bound, head.sha, now)],
    });
    return moved;
  }
  const newest = sight.deployment.latest_revision_id ?? 'none';
  const why =
    made.length > 0
      ? `the newest revision is ${newest}, which is not of this commit`
      : `the newest revision is still ${newest}`;
  await keep(work, [ended(intent, unknownEffect(intent, why), now)]);
  return moved;
}
