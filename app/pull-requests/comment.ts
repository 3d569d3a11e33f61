import { commentLimitBytes } from '../../src/github/comment.ts';
import { leftOut, truncateSections } from '../../src/deploy/words/summary.ts';
import type { AppContext } from '../context.ts';
import { noteOnCheck } from '../events/commit-check.ts';
import { GitHubApiError, type InstallationRepository, type PullRequestKey } from '../github/github-api.ts';
import { commentReport, commitCheckName, type CommentContent, type CommentSections } from '../reconcile/report.ts';
import type { WorkStore } from '../reconcile/store.ts';

/**
 * Puts a part of the one comment that the App writes on a pull request. The comment is created with its first part and
 * edited after. Empty Markdown removes the part. The other parts stay, whoever writes them at the same time.
 */
export const putComment = (
  store: Pick<WorkStore, 'putReport'>,
  pull: PullRequestKey,
  section: keyof CommentSections,
  markdown: string,
): Promise<void> => store.putReport(commentReport(pull, { [section]: markdown }));

/** The most that the answer takes of a comment (bytes), so that something is left to the preview. */
const maxAnswerBytes = 20_000;

/** The comment as it is written: the preview first, cut where both do not fit. Empty if no part says anything. */
export function commentBody({ preview = '', answer = '' }: CommentContent): string {
  const shownAnswer = truncateSections([answer], maxAnswerBytes, leftOut);
  const limit = commentLimitBytes - Buffer.byteLength(shownAnswer) - 2;
  const sections = [truncateSections([preview], limit, leftOut), shownAnswer];
  return sections.filter((section) => section !== '').join('\n\n');
}

/** What a comment says that was written before, and has no part any more. */
export const emptyComment = '_Nothing to report at the moment._';

/** What GitHub answers where the App may not comment: without the permission, or on a locked conversation. */
const refusedStatuses = new Set<number | undefined>([403, 410, 422]);

/** Whether GitHub does not let the App comment, which further attempts do not change. */
export const isCommentRefused = (error: unknown): boolean =>
  error instanceof GitHubApiError && refusedStatuses.has(error.status);

/** Says on the check of a pull request's head that its comment could not be written, and logs it. */
export const noteRefusedComment = (
  context: Pick<AppContext, 'store' | 'log'>,
  at: { repository: InstallationRepository; headSha: string },
): Promise<string> =>
  noteOnCheck(
    context,
    { ...at, name: commitCheckName },
    'The App could not comment on this pull request. An owner has to accept its permission to write pull requests, on the page of its installation; a locked conversation has to be unlocked',
  );

/** Whether GitHub refused the last comment on this pull request. */
export async function isLastCommentRefused(store: Pick<WorkStore, 'reportOf'>, pull: PullRequestKey): Promise<boolean> {
  const { headSha, name } = commentReport(pull, {});
  const report = await store.reportOf(pull.repository.repositoryId, headSha, name);
  return report?.reported?.state === refusedState;
}

/** The state of a comment that GitHub refused. */
export const refusedState = 'refused';
