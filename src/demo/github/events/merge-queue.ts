import { noCommit, readOne } from '../git/commits.ts';
import { git } from '../git/run-git.ts';
import type { Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { simpleCommit } from '../answers/commit-answers.ts';
import { deliverPush } from './push-events.ts';
import { deliver } from './deliver.ts';

/**
 * Makes the commit that a merge queue checks: the pull request's head merged onto the base branch, on a branch of the
 * queue's own. It is delivered as a push and as a merge group that requests its checks.
 *
 * @returns the commit.
 */
export async function queueForMerge(site: Site, repository: Repository, number: number): Promise<string> {
  const record = site.pulls.byNumber(repository.id, number);
  if (!record?.isOpen) throw new Error(`there is no open pull request ${number}`);
  const { folder } = repository;
  const { baseRef, headSha } = record;
  const baseSha = await git(folder, 'rev-parse', `refs/heads/${baseRef}`);
  const tree = await git(folder, 'merge-tree', '--write-tree', baseSha, headSha);
  const message = `Merge pull request #${number} from ${record.headRef}`;
  const sha = await git(folder, 'commit-tree', tree, '-p', baseSha, '-p', headSha, '-m', message);
  const ref = `refs/heads/gh-readonly-queue/${baseRef}/pr-${number}-${baseSha}`;
  await git(folder, 'update-ref', ref, sha);
  await deliverPush(site, repository, [{ ref, before: noCommit, after: sha }]);
  const merge_group = {
    head_sha: sha,
    head_ref: ref,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseRef}`,
    head_commit: simpleCommit(await readOne(folder, sha)),
  };
  await deliver(site, repository, 'merge_group', { action: 'checks_requested', merge_group });
  return sha;
}
