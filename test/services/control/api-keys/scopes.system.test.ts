import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { operations } from '../../../../src/services/control/api/operations.ts';
import { apiKeyScopes, type ApiKeyScope } from '../../../../src/contract/control/api-key-scopes.ts';
import { canaryOf, openTwoTenants, type TwoTenants } from '../tenancy/two-tenants.ts';
import { requests } from '../tenancy/requests.ts';

let service: TwoTenants;
const keys = new Map<ApiKeyScope, string>();
beforeAll(async () => {
  service = await openTwoTenants();
  for (const scope of apiKeyScopes) keys.set(scope, await keyWith({ scopes: [scope] }));
});
afterAll(() => service.close());

async function keyWith(rights: { scopes?: ApiKeyScope[]; expires_at?: Date }): Promise<string> {
  const key = makeApiKey();
  await service.store.addKey({ id: key.id, tenant_id: service.owner.tenant, hash: hashApiKey(key), ...rights });
  return key.text;
}

/** What each scope opens, beside what any key does. */
const opened: Record<ApiKeyScope, readonly string[]> = {
  read: ['read'],
  deploy: ['read', 'deploy'],
  agent: ['agent'],
  admin: ['read', 'deploy', 'agent', 'admin'],
};

test('each operation needs the scope that fits it', () => {
  const scopes = Object.fromEntries(operations.map(({ id, scope, open }) => [id, open ? 'open' : (scope ?? 'any')]));
  expect(scopes).toMatchInlineSnapshot(`
    {
      "build_logs": "read",
      "claim_work": "deploy",
      "create_agent_access": "agent",
      "create_api_key": "admin",
      "create_deployment": "deploy",
      "create_listener": "admin",
      "create_revision": "deploy",
      "create_session": "open",
      "create_trust_policy": "admin",
      "delete_deployment": "deploy",
      "delete_deployments": "deploy",
      "delete_listener": "admin",
      "delete_project": "deploy",
      "delete_session": "any",
      "delete_trust_policy": "admin",
      "deploy_logs": "read",
      "deploy_logs_of_all": "read",
      "deployment_health": "read",
      "deployment_logs": "read",
      "discard_revision": "deploy",
      "docs": "open",
      "docs_asset": "open",
      "exchange_token": "open",
      "find_session": "open",
      "follow_log": "read",
      "get_baseline": "read",
      "get_deployment": "read",
      "get_listener": "read",
      "get_project": "read",
      "get_project_run": "read",
      "get_revision": "read",
      "get_session": "any",
      "health": "open",
      "info": "open",
      "interrupt_revision": "deploy",
      "keep_baseline": "deploy",
      "list_api_keys": "admin",
      "list_audit": "admin",
      "list_deployment_summaries": "read",
      "list_deployments": "read",
      "list_forge_github_integrations": "read",
      "list_forge_github_repositories": "read",
      "list_github_branches": "read",
      "list_github_integrations": "read",
      "list_github_repositories": "read",
      "list_listeners": "read",
      "list_project_runs": "read",
      "list_projects": "read",
      "list_revision_history": "read",
      "list_revision_packages": "read",
      "list_revisions": "read",
      "list_trust_policies": "admin",
      "list_verdicts": "read",
      "logs_by_query": "read",
      "openapi": "open",
      "patch_deployment": "deploy",
      "patch_listener": "admin",
      "patch_session": "any",
      "promote_revision": "deploy",
      "put_tarball": "open",
      "redeploy_revision": "deploy",
      "release_claim": "deploy",
      "renew_claim": "deploy",
      "report_verdict": "deploy",
      "report_work": "deploy",
      "request_push_token": "deploy",
      "request_upload": "deploy",
      "request_upload_unversioned": "deploy",
      "revision_logs": "read",
      "revoke_api_key": "admin",
      "tell_runs": "open",
    }
  `);
});

describe.each(apiKeyScopes)('a key with the scope %s', (scope) => {
  const refused = operations.filter(({ scope: needed }) => needed !== undefined && !opened[scope].includes(needed));

  test.each(refused.map(({ id, method, path, scope: needed }) => ({ id, method, path, needed })))(
    'is refused $id',
    async ({ method, path, needed }) => {
      const row = requests[`${method.toUpperCase()} ${path}`];
      if (!row || 'open' in row) throw new Error(`${path} has no row`);
      const sent = 'of' in row ? row.of(service.owner) : row.own(service.owner);
      const response = await fetch(`${service.url}${sent.path}`, {
        method: method.toUpperCase(),
        headers: { 'x-api-key': keys.get(scope) ?? '', 'content-type': 'application/json' },
        ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      });
      expect({ status: response.status, body: await response.json() }).toEqual({
        status: 403,
        body: { detail: expect.stringContaining(`needs a key with the scope ${needed}`) },
      });
    },
  );

  test('reaches agents only with the right to', async () => {
    const response = await fetch(`${service.url}/agents/${service.owner.deployment}/ok`, {
      headers: { 'x-api-key': keys.get(scope) ?? '' },
    });
    expect(response.status === 403).toBe(!opened[scope].includes('agent'));
  });
});

test('a key without the scope deploy sees the names of secrets, and no value', async () => {
  const shownTo = async (scope: ApiKeyScope): Promise<unknown> => {
    const response = await fetch(`${service.url}/v2/deployments/${service.owner.deployment}`, {
      headers: { 'x-api-key': keys.get(scope) ?? '' },
    });
    return response.json();
  };
  const name = expect.any(String);
  expect(await shownTo('deploy')).toMatchObject({ secrets: [{ name, value: canaryOf('owner') }] });
  expect(await shownTo('read')).toMatchObject({ secrets: [{ name, value: null }] });
  expect(JSON.stringify(await shownTo('read'))).not.toContain(canaryOf('owner'));
});

test('a key is refused from its expiry on', async () => {
  const ask = async (expires_at: Date): Promise<number> => {
    const key = await keyWith({ expires_at });
    return (await fetch(`${service.url}/v2/deployments`, { headers: { 'x-api-key': key } })).status;
  };
  expect(await ask(new Date(Date.now() + 3_600_000))).toBe(200);
  expect(await ask(new Date(Date.now() - 1))).toBe(401);
});
