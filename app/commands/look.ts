import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { leftOut, truncateSections } from '../../src/deploy/words/summary.ts';
import type { AppContext } from '../context.ts';
import type { GivenCommand, PullRequestExaminer } from '../events/event-types.ts';
import type { InstallationRepository, PullRequestState } from '../github/github-api.ts';
import { approvePreview } from '../previews/approve.ts';
import type { Command } from './definitions.ts';
import { refused, type CommandOutcome } from './outcomes.ts';

/** A command about the pull request as a whole. */
export interface PullCommand {
  command: Command;
  given: Pick<GivenCommand, 'number' | 'by'> & { repository: InstallationRepository };
  pull: PullRequestState;
  context: Pick<AppContext, 'previews' | 'clock'>;
  pullRequests: PullRequestExaminer;
}

/** The most of a plan that is shown in a comment (bytes); the check of the pull request has all of it. */
const maxPlanBytes = 15_000;

/** Says what merging the pull request would change, by the same forecast as its check. */
export async function plan({ given, pull, pullRequests }: PullCommand): Promise<CommandOutcome> {
  const { repository, number } = given;
  const { headSha, baseBranch, isFork } = pull;
  const content = await pullRequests.plan({
    repository,
    number,
    headSha,
    baseBranch,
    fork: isFork,
  });
  const details = truncateSections([content.summary], maxPlanBytes, leftOut);
  return { kind: 'done', code: 'planned', title: content.title, details };
}

/**
 * Requests the preview of the commit that is the head now. What a fork changes may come after the person looked at it, so
 * that its commit is named, and in full: one that is abbreviated can be made to fit another one.
 */
export async function preview({ command, given, pull, context }: PullCommand): Promise<CommandOutcome> {
  const { previews, clock } = context;
  if (!previews) return refused({ code: 'no-previews' });
  const { headSha: head, isFork } = pull;
  const { commit } = command;
  if (isFork && (commit === undefined || commit.length < head.length)) return refused({ code: 'fork-commit', head });
  const isHead = isFork ? commit?.toLowerCase() === head.toLowerCase() : sameCommit(commit, head);
  if (commit !== undefined && !isHead) return refused({ code: 'not-pull-head', commit, head });
  const { repository, number, by } = given;
  await approvePreview({ previews, clock }, { repository, number }, head, by.login);
  return { kind: 'done', code: 'previewed', commit: head };
}
