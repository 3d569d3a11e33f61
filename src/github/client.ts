import type { Endpoints } from '@octokit/types';

/** The requests of this module, named as in GitHub's OpenAPI description. */
export type Route =
  | 'POST /repos/{owner}/{repo}/check-runs'
  | 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}'
  | 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}'
  | 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
  | 'POST /repos/{owner}/{repo}/deployments'
  | 'GET /repos/{owner}/{repo}/deployments'
  | 'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses'
  | 'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses'
  | 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'
  | 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
  | 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}'
  | 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}'
  | 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'
  | 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
  | 'GET /repos/{owner}/{repo}/contents/{path}'
  | 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
  | 'GET /repos/{owner}/{repo}/commits/{ref}'
  | 'GET /user';

/**
 * A client of GitHub that knows its token, such as an Octokit. It rejects for every status from 400 on, with an error
 * that has the `status`. Retries, rate limits and error messages belong to the caller.
 */
export interface GitHubClient<Routes extends AnyRoute = Route> {
  request<Each extends Routes>(
    route: Each,
    parameters: ParametersOf<Each>,
  ): Promise<{ data: ResponseOf<Each>['data']; headers: { link?: string | undefined }; status: number }>;
}

/** Every request in GitHub's OpenAPI description, with its parameters and its response. */
export type AnyRoute = keyof Endpoints;
export type ParametersOf<Each extends AnyRoute> = Endpoints[Each]['parameters'];
export type ResponseOf<Each extends AnyRoute> = Endpoints[Each]['response'];

/** A repository as in its address. */
export interface RepositoryName {
  owner: string;
  name: string;
}

/** The parameters of a request that identify a repository. */
export const repositoryParameters = ({ owner, name }: RepositoryName) => ({ owner, repo: name });

/** The status of a rejected request; undefined without a response or for other errors. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  // An Octokit sets the status 500 and no response if there was none.
  if ('response' in error && error.response === undefined) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}

/** The page size of lists: GitHub's maximum. */
const pageSize = 100;

/** Yields the entries of a list page by page. @param read reads the page with these parameters. */
export async function* paginate<Entry>(
  read: (page: { per_page: number; page: number }) => Promise<readonly Entry[]>,
): AsyncGenerator<Entry, undefined> {
  for (let page = 1; ; page += 1) {
    const entries = await read({ per_page: pageSize, page });
    yield* entries;
    if (entries.length < pageSize) return undefined;
  }
}
