import { sameCommit } from '../../src/decide/commit.ts';
import { mayContain } from './contains.ts';
import { builtAsAnother, ended } from './end-words.ts';
import type { Intent } from './intent.ts';
import { wishAfter } from './follow-up-wishes.ts';
import { headOf, keep, moved, type Came, type Work } from './work.ts';

/** Whether the revision that is followed turned out to be of another commit than the wished one. */
export const isOfAnother = ({ sending, commit }: Intent, built: string | undefined): built is string =>
  sending.kind === 'restate' && built !== undefined && !sameCommit(built, commit);

/**
 * The branch moved on between the push and the build: what was built is told as what it is, and the head is wished for,
 * so that whatever it is gets a check of its own: the revision that was just made, or another one.
 */
export async function builtAnother(work: Work, intent: Intent, built: string): Promise<Came> {
  const head = await headOf(work, intent);
  const contains = await mayContain(work, intent.repository, intent.commit, built);
  const now = work.world.clock.now();
  const told: Intent = { ...intent, builtCommit: built };
  await keep(work, [ended(told, builtAsAnother(told, built, contains), now)], {
    wishes: head ? [wishAfter(told, head.sha, now)] : [],
  });
  return moved;
}
