import { isObject } from '../../../contract/json-object.ts';
import type { JsonObject } from '../exchange.ts';
import { administrator, nodeId, type Installation, type Site } from '../site.ts';

/** A person, an organization or the App's own bot. */
export interface Account {
  login: string;
  id: number;
  type: 'User' | 'Organization' | 'Bot';
}

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

/** A person by login. */
export const personOf = ({ accounts }: Pick<Site, 'accounts'>, login: string): Account => ({
  login,
  id: accounts.get(login)?.id ?? 0,
  type: 'User',
});

/** Completes every organization and bot in a response of the emulated GitHub, with real addresses. */
export function withWholeAccounts(site: Pick<Site, 'url' | 'app'>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withWholeAccounts(site, each));
  if (!isObject(value)) return value;
  const { login, id, type } = value;
  if (type === 'Bot' && login === botOf(site).login) return accountAnswer(site, botOf(site));
  if (type === 'Organization' && typeof login === 'string' && typeof id === 'number' && !('gists_url' in value)) {
    return { ...value, ...accountAnswer(site, { login, id, type }) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withWholeAccounts(site, each)]));
}

/** The App as GitHub shows it: its "integration". */
export function appAnswer(site: Site): JsonObject {
  const { app, url } = site;
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: accountAnswer(site, personOf(site, administrator(site).login)),
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

/** One installation of the App, as the App and webhooks see it. */
export function installationAnswer(site: Site, { id, owner }: Installation): JsonObject {
  const { app, url } = site;
  const account = site.accounts.get(owner) ?? { login: owner, id: 0, type: 'Organization' as const };
  return {
    id,
    client_id: app.clientId,
    account: accountAnswer(site, account),
    repository_selection: 'all',
    access_tokens_url: `${url}/app/installations/${id}/access_tokens`,
    repositories_url: `${url}/installation/repositories`,
    html_url: `${url}/organizations/${owner}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: app.permissions,
    events: app.events,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: null,
  };
}
