import { pageSize, type GitHubClient } from '../../src/github/client.ts';
import type { PullRequestAt } from '../events/event-types.ts';
import type { AppRoute } from './octokit.ts';

/** GitHub lists no more files of a pull request than this. */
export const mostListedFiles = 3000;

/**
 * Every path that a pull request changes, the former names of renamed files among them; undefined if the list is cut
 * at GitHub's bound.
 */
export async function changedPaths(
  client: GitHubClient<AppRoute>,
  { repository: { owner, name: repo }, number }: Pick<PullRequestAt, 'repository' | 'number'>,
): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  let listed = 0;
  for (let page = 1; ; page += 1) {
    const { data } = await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
      owner,
      repo,
      pull_number: number,
      per_page: pageSize,
      page,
    });
    for (const { filename, previous_filename: former } of data) paths.push(filename, ...(former ? [former] : []));
    listed += data.length;
    if (listed >= mostListedFiles) return undefined;
    if (data.length < pageSize) return paths;
  }
}
