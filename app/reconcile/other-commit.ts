import { sameCommit } from '../../src/planning/commit.ts';
import { mayContain } from './contains.ts';
import { builtAsAnother, ended } from './outcomes.ts';
import type { Intent } from './intent.ts';
import { requestAfter } from './follow-up-requests.ts';
import { headOf, keep, continued, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Whether the followed revision was built from another commit than the requested one. */
export const isOfAnother = ({ sending, commit }: Intent, built: string | undefined): built is string =>
  sending.kind === 'restate' && built !== undefined && !sameCommit(built, commit);

/**
 * The branch moved between the push and the build: reports the commit that was built, and requests the head, so that
 * it gets its own check, whether it is the revision just made or another one.
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
