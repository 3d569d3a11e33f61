import type { Endpoints } from '@octokit/types';

/** The requests that this module makes, by the names that GitHub's own document gives them. */
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
  ): Promise<{ data: AnswerOf<Each>['data']; headers: { link?: string | undefined }; status: number }>;
}

/** Every request that GitHub's document knows, what it takes and what it answers. */
export type AnyRoute = keyof Endpoints;
export type ParametersOf<Each extends AnyRoute> = Endpoints[Each]['parameters'];
export type AnswerOf<Each extends AnyRoute> = Endpoints[Each]['response'];

/** A repository as its addresses have it. */
export interface RepositoryName {
  owner: string;
  name: string;
}

/** The parameters of a request that name a repository. */
export const ofRepository = ({ owner, name }: RepositoryName) => ({ owner, repo: name });

/** The status of a rejected request; undefined without a response or for other errors. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  // An Octokit says 500 where it was not answered at all; only an answer has a response or comes translated.
  if ('response' in error && error.response === undefined) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}

/** The page size of lists: GitHub's maximum. */
const pageSize = 100;

/** The entries of a list, page after page; `read` is given the parameters of a page. */
export async function* paginate<Entry>(
  read: (page: { per_page: number; page: number }) => Promise<readonly Entry[]>,
): AsyncGenerator<Entry, undefined> {
  for (let page = 1; ; page += 1) {
    const entries = await read({ per_page: pageSize, page });
    yield* entries;
    if (entries.length < pageSize) return undefined;
  }
}
