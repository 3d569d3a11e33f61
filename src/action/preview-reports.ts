import { authorOf, editCommentOfTopic } from '../github/comment.ts';
import type { GitHubClient } from '../github/client.ts';
import { retireDeployments } from '../github/own-deployments.ts';
import type { Outcome, RemovedPreview } from '../deploy/machine/outcome-types.ts';
import { previewEndWords, removedComment } from '../deploy/words/preview.ts';
import type { Attempt, RunReport } from './deployment-reports.ts';

/** The environment of a preview in GitHub Deployments. */
export const previewEnvironment = (pullRequest: number): string => `preview/pr-${pullRequest}`;

/** The topic of the comment on a preview: there is one comment for each deployment of the file. */
export const previewTopic = (entry: string): string => `preview of ${entry}`;

/** Whether a pull request is told how a run about its preview ended: not where it has none, or while it keeps one. */
export const isCommented = ({ kind, preview }: Outcome): boolean =>
  kind !== 'deleted' && (kind !== 'neutral' || preview?.waits === 'approval');

/** Where it is said that a preview is gone. */
interface RemovalReport {
  client: GitHubClient;
  run: RunReport;
  attempt: Attempt;
}

/**
 * Says of the previews that a run removed that they are gone: in the comments that are there, and in the GitHub
 * Deployments, which become inactive.
 */
export async function reportRemoved(outcome: Outcome, report: RemovalReport): Promise<void> {
  const { removed = [], pullRequest: own, entry } = outcome.preview ?? {};
  for (const each of removed) {
    const isOwn = each.pullRequest === own;
    // One that has another name now is reported as it is.
    const isReplaced = isOwn && each.entry === entry && outcome.kind !== 'deleted';
    if (isReplaced || each.entry === undefined) continue;
    const environment = isOwn ? report.run.environment?.name : previewEnvironment(each.pullRequest);
    await reportOne(each, { entry: each.entry, environment }, report);
  }
}

async function reportOne(
  removed: RemovedPreview,
  { entry, environment }: { entry: string; environment: string | undefined },
  { client, run, attempt }: RemovalReport,
): Promise<void> {
  const { repository, runUrl: logUrl, step } = run;
  const { pullRequest } = removed;
  if (run.ofRemoved?.comments) {
    await attempt(`The comment on pull request ${pullRequest} was not written`, 'pull-requests: write', async () => {
      const at = { repository, pullRequest, topic: previewTopic(entry), step };
      await editCommentOfTopic(client, at, await authorOf(client), removedComment(removed));
    });
  }
  if (!run.ofRemoved?.deployments || environment === undefined) return;
  const why = `${entry}: ${previewEndWords(removed.code)}`;
  await attempt('GitHub Deployments were not set to inactive', 'deployments: write', () =>
    retireDeployments(client, { repository, environment, names: [entry] }, { why, logUrl }),
  );
}
