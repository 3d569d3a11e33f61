import { rolloutOf } from '../../src/decide/rollout.ts';
import type { Intent } from './intent.ts';
import type { Sight } from './sight.ts';
import { keep, moved, restFor, type Came, type Work } from './work.ts';

/** When a revision that was just made is looked at first (ms). */
const firstLookMs = 1_000;

/** Binds the intent to a revision: from now on it is followed by its id, whatever else becomes the newest. */
export async function beginFollowing(
  work: Work,
  intent: Intent,
  revisionId: string,
  how: NonNullable<Intent['how']>,
  sight?: Sight,
): Promise<Came> {
  const { world } = work;
  const following: Intent = {
    ...intent,
    ...(sight && how !== 'triggered' ? await formerOf(work, intent, revisionId, sight) : {}),
    state: 'following',
    revisionId,
    how,
    rollout: rolloutOf(revisionId),
    deadline: world.clock.now() + intent.terms.timeoutMs,
  };
  await keep(work, [following]);
  await world.step?.('answer-stored', intent.id);
  return how === 'triggered' ? restFor(work, firstLookMs, intent.id) : moved;
}

/** What served before a revision that is adopted: the intent that it was made for knows, or it is what serves now. */
async function formerOf(
  { world }: Work,
  intent: Intent,
  revisionId: string,
  { deployment }: Sight,
): Promise<Pick<Intent, 'formerLatestRevisionId' | 'formerLiveRevisionId'>> {
  const before = await world.store.lastWithRevision(intent.deploymentId, 30);
  const maker = before.find((each) => each.id !== intent.id && each.revisionId === revisionId);
  if (maker?.formerLiveRevisionId) return { formerLiveRevisionId: maker.formerLiveRevisionId };
  const active = deployment.active_revision_id;
  return active && active !== revisionId ? { formerLiveRevisionId: active } : {};
}
