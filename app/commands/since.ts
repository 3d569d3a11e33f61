import type { Revision } from '../../src/contract/control/revision.ts';
import { isAfterComment, timeOf } from '../../src/deploy/commands/decide.ts';
import type { IntentFields } from '../reconcile/intent.ts';

/**
 * Whether a revision serves, or is held, only since a comment was written: the person did not mean it. It counts when it
 * was made, and when the App saw it go live, where it followed it. Unknown times count as before.
 */
export function isSince(
  writtenAt: number,
  { created_at: created }: Pick<Revision, 'created_at'>,
  maker: Pick<IntentFields, 'rollout'> | undefined,
): boolean {
  const live = maker?.rollout?.seen.findLast(({ status }) => status === 'DEPLOYED')?.at;
  return isAfterComment(writtenAt, [timeOf(created), live]);
}
