import { paged, Refusal, type ApiResponse, type ApiCall, type JsonObject } from '../exchange.ts';
import {
  askEmulated,
  fullNameOf,
  repositoryFor,
  repositoryUrl,
  type Repository,
  type Site,
  nodeId,
  type Account,
  type Installation,
} from '../site.ts';

/** An account as GitHub names it everywhere: its "simple user". */
export function accountAnswer({ url }: Pick<Site, 'url'>, { login, id, type }: Account): JsonObject {
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

/** The bot that the App writes as. */
export const botOf = ({ app }: Pick<Site, 'app'>): Account => ({
  login: `${app.slug}[bot]`,
  id: app.id + 1_000_000,
  type: 'Bot',
});

/** A person or an organization by login, as GitHub names it. */
export const accountNamed = (site: Site, login: string): JsonObject =>
  accountAnswer(site, site.accounts.get(login) ?? { login, id: 0, type: 'User' });

/** The App as GitHub shows it: its "integration". */
export function appAnswer(site: Site): JsonObject {
  const { app, url } = site;
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: accountNamed(site, site.administrator),
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

/** One installation of the App, as the App and webhooks see it: the emulated one, with what that leaves out. */
export async function installationAnswer(site: Site, { owner }: Installation): Promise<JsonObject> {
  const emulated = await askEmulated(site, 'GET', `/orgs/${owner}/installation`);
  const account = accountNamed(site, owner);
  return { ...emulated, client_id: site.app.clientId, account, target_id: account['id'] };
}

/** A repository as GitHub shows it: the emulated one, with what that leaves out. */
export async function repositoryAnswer(site: Site, repository: Repository): Promise<JsonObject> {
  const owner = accountNamed(site, repository.owner);
  return {
    ...(await askEmulated(site, 'GET', `/repos/${fullNameOf(repository)}`)),
    owner,
    ...(owner['type'] === 'Organization' ? { organization: owner } : {}),
    deployments_url: `${repositoryUrl(site, repository)}/deployments`,
    web_commit_signoff_required: false,
    has_pull_requests: true,
    subscribers_count: 0,
    network_count: 0,
  };
}

export async function getRepository(call: ApiCall, site: Site): Promise<ApiResponse> {
  return { status: 200, body: await repositoryAnswer(site, await repositoryFor(site, call, 'metadata', 'read')) };
}

/** What an installation may reach. */
export async function installationRepositories(call: ApiCall, site: Site): Promise<ApiResponse> {
  const { who } = call;
  if (who.kind !== 'installation') throw new Refusal(403, 'You must authenticate with an installation access token.');
  const own = site.repositories.filter(({ owner }) => owner === who.owner);
  const answers = await Promise.all(own.map((repository) => repositoryAnswer(site, repository)));
  return paged(call, site.url, answers, (page) => ({
    total_count: own.length,
    repository_selection: 'all',
    repositories: page,
  }));
}
