import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { refusalText } from '../../src/deploy/commands/words.ts';
import type { AppContext } from '../context.ts';
import { approve } from '../reconcile/approve.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import type { DecisionOf } from './event-types.ts';

/**
 * Handles Approve: the reviewers of a GitHub environment need no write access, and nobody else may approve.
 *
 * @param newest the newest intent of the check.
 */
export async function pressApprove(
  { repository, headSha: commit, by }: DecisionOf<'press'>,
  { deploymentId, terms: { deploymentName: deployment } }: IntentFields,
  context: AppContext,
): Promise<{ ok: true; did: string } | { ok: false; why: string }> {
  if ((await context.githubApi.permissionOf(repository, by)) === 'none')
    return { ok: false, why: `${by} has no access to this repository` };
  const refusal = await approve(context, { deploymentId, deployment, repository, commit, by });
  return refusal
    ? { ok: false, why: refusalText(refusal) }
    : { ok: true, did: `approved ${shortCommit(commit)} on ${deployment}` };
}
