import type { GitHubClient } from '../../src/github/client.ts';
import type { Author } from '../../src/github/comment.ts';
import { unlessMissing } from './failure.ts';
import { GitHubApiError, type PullRequestKey, type PullRequestState } from './github-api.ts';
import type { AppRoute, ClientOf } from './installation-clients.ts';

/** A pull request as it is now; undefined if there is none of this number. */
export async function readPullRequest(
  client: GitHubClient<AppRoute>,
  { repository: { owner, name, repositoryId }, number }: PullRequestKey,
): Promise<PullRequestState | undefined> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { owner, repo: name, pull_number: number }),
  );
  if (found === undefined) return undefined;
  const { head, base, state, merged, labels } = found.data;
  // The name may be another repository's by now, whose pull request has the same number.
  if (Number(base.repo.id) !== repositoryId) {
    throw new GitHubApiError(`${owner}/${name} is another repository by now`, 404, 'none');
  }
  // GitHub's description says that a head has a repository, but that of a deleted fork has none.
  const headRepository: { id: number | bigint; html_url: string } | null = head.repo;
  const isFork = Number(headRepository?.id) !== repositoryId;
  return {
    headSha: head.sha,
    ...(isFork ? {} : { headBranch: head.ref }),
    baseBranch: base.ref,
    isOpen: state === 'open',
    isMerged: merged,
    labels: labels.map(({ name: label }) => label),
    headRef: head.ref,
    isFork,
    repositoryUrl: base.repo.html_url,
    ...(headRepository ? { headUrl: headRepository.html_url } : {}),
  };
}

/**
 * The topic of the App's one comment on a pull request. Those of the Action have the names of deployments, which hold no
 * NUL.
 */
export const commentTopic = '\0app';

/** Creates what reads the App's own author of comments. That changes only with the App's name, so it is read once. */
export function createAuthorReader(clientOf: ClientOf): () => Promise<Author> {
  let author: Promise<Author> | undefined;
  return () => {
    author ??= readAuthor(clientOf(undefined));
    author.catch(() => (author = undefined));
    return author;
  };
}

/** GitHub shows an App as the author of comments by the name in its address. */
async function readAuthor(app: GitHubClient<AppRoute>): Promise<Author> {
  const { data } = await app.request('GET /app', {});
  if (!data?.slug) throw new GitHubApiError('GitHub does not say what the App is called', undefined, 'none');
  return { kind: 'login', login: `${data.slug}[bot]` };
}
