import { sameCommit } from '../../src/decide/commit.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { mayContain } from './contains.ts';
import { decideWish } from './decide-wish.ts';
import { branchGone, ended, supersededBy } from './end-words.ts';
import type { Intent, Wish } from './intent.ts';
import { isWishForHead } from './next-step.ts';
import { seenOf } from './sight.ts';
import { sortedWishes } from './sorted-wishes.ts';
import type { Changes, Lane } from './store.ts';
import { wishForHead } from './follow-up-wishes.ts';
import { headOf, keep, moved, reading, restFor, type Came, type Work } from './work.ts';

/** How often somebody else's revision is looked at, while a wish waits for it (ms). */
const anothersMs = 5_000;

/** How long after a push GitHub may still answer with the head from before it (ms), and how soon it is asked again. */
const lagMs = 10_000;
const lagLookMs = 2_000;

/**
 * Reads the head and sorts the wishes by it. Where the lane is free, the one for the head is decided; where it is
 * `busyWith` another, that one waits.
 */
export async function takeWishes(
  work: Work,
  lane: Lane,
  open: readonly Intent[],
  busyWith: Intent | undefined,
): Promise<Came> {
  const wishes = open.filter(isWishForHead);
  const newest = wishes.at(-1);
  if (!newest) return moved;
  if (!busyWith && (await waitsForAnother(work, wishes))) return restFor(work, anothersMs);
  const pressed = wishes.some(({ cause, state }) => cause.kind === 'redeploy' && state === 'wished');
  const released: Pick<Changes, 'held' | 'rolledBackCommit'> = pressed ? { held: null, rolledBackCommit: null } : {};
  const head = await headOf(work, newest);
  const now = work.world.clock.now();
  if (!head) {
    const skipped: Intent['decision'] = {
      kind: 'skip',
      code: 'branch-gone',
      why: `the branch ${newest.branch} is gone`,
    };
    const gone = wishes.map((intent) => ended({ ...intent, decision: skipped }, branchGone(intent), now));
    await keep(work, gone, released);
    return moved;
  }
  const { stale, joined, first, lacksHead } = sortedWishes(wishes, head.sha, busyWith);
  if (await mayLag(work, stale, head.sha)) return restFor(work, lagLookMs);
  const isProven = stale.length > 0 && (await isLiveAndProven(work, newest.deploymentId, head.sha));
  const left: Intent[] = [];
  for (const intent of stale) {
    const contains = await mayContain(work, intent.repository, intent.commit, head.sha);
    const end = supersededBy(intent, head.sha, contains);
    left.push(ended(intent, contains && isProven ? { ...end, liveIn: head.sha } : end, now));
  }
  const told = joined.map(({ intent, to }) => ended(intent, joinedTo(to), now));
  const waiting: Intent[] = first && busyWith && first.state === 'wished' ? [{ ...first, state: 'waiting' }] : [];
  const isBuilt = busyWith?.sending.kind === 'restate' && sameCommit(busyWith.commit, head.sha);
  const headWish = lacksHead && !isBuilt ? [headWishFor(stale.at(-1) ?? newest, head.sha, now)] : [];
  const changed = [...left, ...told, ...waiting];
  if (changed.length > 0 || headWish.length > 0 || pressed) {
    const busy = busyWith && { commit: busyWith.commit, revisionId: busyWith.revisionId };
    // The one that was pressed is decided next; until then it stands as it is.
    const pressedFirst = pressed && first && !busyWith ? [{ ...first, state: 'waiting' as const }] : [];
    await keep(work, [...changed, ...pressedFirst], { ...released, wishes: headWish, busy });
    return moved;
  }
  if (!first || busyWith || first.state === 'expecting') return restFor(work, anothersMs);
  return decideWish(work, lane, first, head);
}

/** Whether a push that just came is of a newer commit than the head that GitHub tells: its answers follow a little later. */
async function mayLag(work: Work, stale: readonly Intent[], head: string): Promise<boolean> {
  const since = work.world.clock.now() - lagMs;
  const fresh = stale.filter(({ cause, createdAt }) => cause.kind === 'push' && createdAt > since);
  for (const { repository, commit } of fresh) {
    if (!(await mayContain(work, repository, commit, head))) return true;
  }
  return false;
}

/** Whether the head was the last commit that came to anything here, and is live and proven. */
async function isLiveAndProven({ world }: Work, deploymentId: string, head: string): Promise<boolean> {
  const last = await world.store.lastWithRevision(deploymentId, 10);
  const newest = last.find(({ end }) => end !== undefined);
  return newest?.end?.kind === 'deployed' && newest.sending.kind === 'restate' && sameCommit(newest.commit, head);
}

/** The head is deployed although no delivery told of it yet: the cause that came for another commit speaks for it. */
const headWishFor = (intent: Intent, commit: string, at: number): Wish =>
  wishForHead(intent, commit, intent.cause.key, at);

const joinedTo = (to: Intent) => ({
  kind: 'joined' as const,
  reason: `It is told together with the ${to.cause.kind} that this commit was wished for by as well.`,
});

/** Whether the only wish waits for somebody else's revision, and that one is still on its way. */
async function waitsForAnother(work: Work, wishes: readonly Intent[]): Promise<boolean> {
  const [only, ...others] = wishes;
  if (!only || others.length > 0 || only.state !== 'waiting' || only.decision?.kind !== 'wait') return false;
  if (only.deadline !== undefined && work.world.clock.now() >= only.deadline) return false;
  const { revisionId } = only.decision;
  const read = await attempt(work.world.control.getRevision(only.deploymentId, revisionId, reading(work)));
  if (!read.ok) {
    if (read.error.kind === 'missing') return false;
    throw read.error;
  }
  const seen = seenOf(read.value, null);
  return seen.standing === 'on-its-way' && read.value.status !== 'DEPLOYED' && !sameCommit(seen.commit, only.commit);
}
