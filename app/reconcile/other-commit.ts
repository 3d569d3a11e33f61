import { sameCommit } from '../../src/planning/commit.ts';
import { mayContain } from './contains.ts';
import { builtAsAnother, ended } from './end-words.ts';
import type { Intent } from './intent.ts';
import { requestAfter } from './follow-up-requests.ts';
import { headOf, keep, continued, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Whether the revision that is followed turned out to be of another commit than the wished one. */
export const isOfAnother = ({ sending, commit }: Intent, built: string | undefined): built is string =>
  sending.kind === 'restate' && built !== undefined && !sameCommit(built, commit);

/**
 * The branch moved on between the push and the build: what was built is told as what it is, and the head is wished for,
 * so that whatever it is gets a check of its own: the revision that was just made, or another one.
 */
export async function builtAnother(work: ReconcileContext, intent: Intent, built: string): Promise<StepResult> {
  const head = await headOf(work, intent);
  const contains = await mayContain(work, intent.repository, intent.commit, built);
  const now = work.context.clock.now();
  const reported: Intent = { ...intent, builtCommit: built };
  await keep(work, [ended(reported, builtAsAnother(reported, built, contains), now)], {
    requests: head ? [requestAfter(reported, head.sha, now)] : [],
  });
  return continued;
}
