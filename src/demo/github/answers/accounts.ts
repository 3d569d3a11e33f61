import { pageResponse, Refusal, type ApiResponse, type ApiCall, type JsonObject } from '../exchange.ts';
import {
  requestEmulator,
  fullNameOf,
  repositoryFor,
  repositoryUrl,
  type Repository,
  type GitHubState,
  nodeId,
  type Account,
  type Installation,
} from '../state.ts';
import { isObject } from '../../../kit/json-object.ts';

/** An account in GitHub's schema "simple user". */
export function accountAnswer({ url }: Pick<GitHubState, 'url'>, { login, id, type }: Account): JsonObject {
  const api = `${url}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: nodeId(type, id),
    avatar_url: `${url}/avatars/${encodeURIComponent(login)}`,
    gravatar_id: '',
    url: api,
    html_url: type === 'Bot' ? `${url}/apps/${login.replace(/\[bot\]$/, '')}` : `${url}/${login}`,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type,
    site_admin: false,
    user_view_type: 'public',
  };
}

/** The bot account of the App. */
export const botOf = ({ app }: Pick<GitHubState, 'app'>): Account => ({
  login: `${app.slug}[bot]`,
  id: app.id + 1_000_000,
  type: 'Bot',
});

/** A person or an organization by login, as the API returns it. */
export const accountNamed = (state: GitHubState, login: string): JsonObject =>
  accountAnswer(state, state.accounts.get(login) ?? { login, id: 0, type: 'User' });

/** The App in GitHub's schema "integration". */
export function appAnswer(state: GitHubState): JsonObject {
  const { app, url } = state;
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: accountNamed(state, state.administrator),
    name: app.name,
    description: null,
    external_url: `${url}/apps/${app.slug}`,
    html_url: `${url}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
  };
}

/** One installation of the App: the response of `emulate` with the fields that it lacks. */
export async function installationAnswer(state: GitHubState, { owner }: Installation): Promise<JsonObject> {
  const emulated = await requestEmulator(state, 'GET', `/orgs/${owner}/installation`);
  const account = accountNamed(state, owner);
  return { ...emulated, client_id: state.app.clientId, account, target_id: account['id'] };
}

/** A repository: the response of `emulate` with the fields that it lacks. */
export async function repositoryAnswer(state: GitHubState, repository: Repository): Promise<JsonObject> {
  const owner = accountNamed(state, repository.owner);
  return {
    ...(await requestEmulator(state, 'GET', `/repos/${fullNameOf(repository)}`)),
    owner,
    ...(owner['type'] === 'Organization' ? { organization: owner } : {}),
    deployments_url: `${repositoryUrl(state, repository)}/deployments`,
    web_commit_signoff_required: false,
    has_pull_requests: true,
    subscribers_count: 0,
    network_count: 0,
  };
}

export async function getRepository(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  return { status: 200, body: await repositoryAnswer(state, await repositoryFor(state, call, 'metadata', 'read')) };
}

/** Lists the repositories that an installation can access. */
export async function installationRepositories(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const { caller } = call;
  if (caller.kind !== 'installation')
    throw new Refusal(403, 'You must authenticate with an installation access token.');
  const reachable = state.repositories.filter(({ owner }) => owner === caller.owner);
  const answers = await Promise.all(reachable.map((repository) => repositoryAnswer(state, repository)));
  return pageResponse(call, state.url, answers, (page) => ({
    total_count: reachable.length,
    repository_selection: 'all',
    repositories: page,
  }));
}

/** Completes every organization and bot in a response of the emulated GitHub, with real addresses. */
export function withWholeAccounts(state: Pick<GitHubState, 'url' | 'app'>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withWholeAccounts(state, each));
  if (!isObject(value)) return value;
  const { login, id, type } = value;
  if (type === 'Bot' && login === botOf(state).login) return accountAnswer(state, botOf(state));
  if (type === 'Organization' && typeof login === 'string' && typeof id === 'number' && !('gists_url' in value)) {
    return { ...value, ...accountAnswer(state, { login, id, type }) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withWholeAccounts(state, each)]));
}
