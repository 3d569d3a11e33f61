import type { JsonObject } from '../exchange.ts';
import { administrator, nodeId, type Installation, type Site } from '../site.ts';
import { accountAnswer } from './accounts.ts';

/** The App as GitHub shows it: its "integration". */
export function appAnswer(site: Site): JsonObject {
  const { app, url } = site;
  const { login } = administrator(site);
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: accountAnswer(site, { login, id: site.accounts.get(login)?.id ?? 0, type: 'User' }),
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
