import { textAt, type ApiCall, type ApiResponse, type JsonObject } from '../exchange.ts';
import { notFound } from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import { nodeId, repositoryFor, repositoryUrl, type GitHubState, type Repository } from '../state.ts';
import { repositoryAnswer } from './accounts.ts';

/** A status that a person or another program gave a commit, in place of an earlier one of the same name. */
export function statusAnswer(
  state: GitHubState,
  repository: Repository,
  sha: string,
  { context, result }: { context: string; result: 'pending' | 'success' | 'failure' },
): JsonObject {
  const id = state.statuses.length + 1;
  const at = new Date().toISOString();
  return {
    id,
    node_id: nodeId('Status', id),
    url: `${repositoryUrl(state, repository)}/statuses/${sha}`,
    avatar_url: null,
    state: result,
    description: null,
    target_url: null,
    context,
    created_at: at,
    updated_at: at,
  };
}

/** The newest status of each name of a commit. */
export async function combinedStatus(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'statuses', 'read');
  const sha = await resolveCommit(repository.folder, call.params['ref'] ?? '');
  if (sha === undefined) throw notFound();
  const own = state.statuses.filter((each) => each.repositoryId === repository.id && each.sha === sha);
  const newest = new Map(own.map(({ status }) => [textAt(status, 'context'), status]));
  const statuses = [...newest.values()];
  const has = (result: string): boolean => statuses.some((status) => status['state'] === result);
  const combined = has('failure') ? 'failure' : statuses.length === 0 || has('pending') ? 'pending' : 'success';
  const url = repositoryUrl(state, repository);
  return {
    status: 200,
    body: {
      state: combined,
      statuses,
      sha,
      total_count: statuses.length,
      repository: await repositoryAnswer(state, repository),
      commit_url: `${url}/commits/${sha}`,
      url: `${url}/commits/${sha}/status`,
    },
  };
}
