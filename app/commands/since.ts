import type { Revision } from '../../src/contract/control/revision.ts';
import type { IntentFields } from '../reconcile/intent.ts';

/** How far the clocks of GitHub, the service and the App may be apart (ms). */
const skewMs = 10_000;

/**
 * Whether a revision serves, or is held, only since a comment was written: the person did not mean it. It counts when it
 * was made, and when the App saw it go live, where it followed it. Unknown times count as before.
 */
export function isSince(
  writtenAt: number,
  { created_at: created }: Pick<Revision, 'created_at'>,
  maker: Pick<IntentFields, 'rollout'> | undefined,
): boolean {
  const made = Date.parse(created ?? '');
  const live = maker?.rollout?.seen.findLast(({ status }) => status === 'DEPLOYED')?.at;
  return [made, live ?? Number.NaN].some((at) => at > writtenAt + skewMs);
}
