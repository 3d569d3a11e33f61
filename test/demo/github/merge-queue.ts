import { deliver } from '../../../src/demo/github/events/deliver.ts';
import { commitInEvent, deliverPush } from '../../../src/demo/github/events/push-events.ts';
import { git, noCommit, readCommit } from '../../../src/demo/github/git/commits.ts';
import type { GitHubState, Repository } from '../../../src/demo/github/state.ts';

/**
 * Makes the commit that a merge queue checks: the pull request's head merged onto the base branch, on a branch of the
 * queue's own. It is delivered as a push and as a merge group that requests its checks.
 *
 * @returns the commit.
 */
export async function queueForMerge(state: GitHubState, repository: Repository, number: number): Promise<string> {
  const record = state.pulls.byNumber(repository.id, number);
  if (!record) throw new Error(`there is no pull request ${number}`);
  const { folder } = repository;
  const { baseRef, headSha } = record;
  const baseSha = await git(folder, 'rev-parse', `refs/heads/${baseRef}`);
  const tree = await git(folder, 'merge-tree', '--write-tree', baseSha, headSha);
  const message = `Merge pull request #${number} from ${record.headRef}`;
  const sha = await git(folder, 'commit-tree', tree, '-p', baseSha, '-p', headSha, '-m', message);
  const ref = `refs/heads/gh-readonly-queue/${baseRef}/pr-${number}-${baseSha}`;
  await git(folder, 'update-ref', ref, sha);
  await deliverPush(state, repository, [{ ref, before: noCommit, after: sha }]);
  const merge_group = {
    head_sha: sha,
    head_ref: ref,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseRef}`,
    head_commit: commitInEvent(await readCommit(folder, sha)),
  };
  await deliver(state, repository, 'merge_group', { action: 'checks_requested', merge_group });
  return sha;
}
