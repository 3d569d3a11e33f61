import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploymentsList } from '../../../../src/contract/control/deployment.ts';
import { githubIntegrations } from '../../../../src/contract/control/integration.ts';
import { listenersList } from '../../../../src/contract/control/listener.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { maxBodyBytes } from '../../../../src/services/control/api/request.ts';
import { below } from '../../../../src/services/control/server.ts';
import { fromGit, fromImage, unknownId, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${fixture.baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': fixture.apiKey, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const create = async () => {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
    return { id, revision: latest_revision_id ?? '' };
  };

  test(
    'POST /v2/deployments creates and returns 201',
    { meta: { claims: ['control.endpoints.create', 'control.create.answers-201'] } },
    async () => {
      const request = fromGit();
      const answer = await send('POST', '/v2/deployments', request);
      expect(answer.status).toBe(201);
      expect(await answer.json()).toMatchObject({ name: request.name });
    },
  );

  test('GET /v2/deployments/{id} returns the deployment', { meta: { claims: ['control.endpoints.get'] } }, async () => {
    const { id } = await create();
    const answer = await send('GET', `/v2/deployments/${id}`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { id }]);
  });

  test(
    'PATCH /v2/deployments/{id} takes a partial change, returns the deployment',
    { meta: { claims: ['control.endpoints.patch'] } },
    async () => {
      const { id } = await create();
      const answer = await send('PATCH', `/v2/deployments/${id}`, { source_config: { build_on_push: true } });
      expect([answer.status, await answer.json()]).toMatchObject([200, { id, source_config: { build_on_push: true } }]);
    },
  );

  test(
    'GET .../revisions/{id} returns the revision with its status',
    { meta: { claims: ['control.endpoints.get-revision'] } },
    async () => {
      const { id, revision } = await create();
      const answer = await send('GET', `/v2/deployments/${id}/revisions/${revision}`);
      expect([answer.status, await answer.json()]).toMatchObject([200, { id: revision, status: 'CREATING' }]);
    },
  );

  test('a bulk deletion is a 200 for all, a 207 for some, a 404 for none', async () => {
    const [one, two, three] = [(await create()).id, (await create()).id, (await create()).id];
    const [unknown, another] = [unknownId(), unknownId()];
    const remove = async (...ids: string[]) => {
      const answer = await send('DELETE', `/v2/deployments?deployment_ids=${ids.join(',')}`);
      return [answer.status, await answer.json()];
    };
    expect(await remove(one, two)).toEqual([200, { deleted: [one, two], failed: [] }]);
    const missing = { deployment_id: unknown, status: 404, detail: `Deployment ID ${unknown} not found.` };
    expect(await remove(unknown, three)).toEqual([207, { deleted: [three], failed: [missing] }]);
    expect(await remove(unknown, another)).toEqual([
      404,
      { detail: `Deployment ID ${unknown} not found. Deployment ID ${another} not found.` },
    ]);
  });

  test(
    'GET /v1/integrations/github/install returns usable integrations',
    { meta: { claims: ['control.endpoints.integrations'] } },
    async () => {
      await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme');
      const answer = await send('GET', '/v1/integrations/github/install');
      const [integration] = githubIntegrations.parse(await answer.json());
      const source_config = { integration_id: integration?.id };
      expect((await send('POST', '/v2/deployments', fromGit({ source_config }))).status).toBe(201);
    },
  );

  test(
    'GET /v2/listeners returns usable listeners',
    { meta: { claims: ['control.endpoints.listeners'] } },
    async () => {
      await fixture.store.addListener(fixture.tenantId, { compute_type: 'k8s', compute_id: 'cluster' });
      const answer = await send('GET', '/v2/listeners');
      const { resources } = listenersList.parse(await answer.json());
      const source_config = { listener_id: resources[0]?.id };
      expect((await send('POST', '/v2/deployments', fromImage({ source_config }))).status).toBe(201);
    },
  );

  eachClaim([
    ['control.endpoints.deployment-id-uuid', '/v2/deployments/alpha', 'deployment_id'],
    ['control.endpoints.deployment-id-uuid', `/v2/deployments/alpha/revisions/${unknownId()}`, 'deployment_id'],
    ['control.endpoints.revision-id-uuid', `/v2/deployments/${unknownId()}/revisions/latest`, 'revision_id'],
    ['', '/v2/listeners/cluster', 'listener_id'],
    ['', '/v1/integrations/github/acme/repos', 'integration_id'],
  ])('%s is refused', {}, async (path, name) => {
    const answer = await send('GET', path);
    expect([answer.status, await answer.json()]).toMatchObject([422, { detail: [{ loc: ['path', name] }] }]);
  });

  test('bodies are JSON, in and out', { meta: { claims: ['control.service.json-bodies'] } }, async () => {
    const { id } = await create();
    const answer = await send('GET', `/v2/deployments/${id}`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const path of [`/v2/deployments/${unknownId()}`, '/v2/nothing', '/nothing'])
      expect((await send('GET', path)).headers.get('content-type')).toMatch(/^application\/json/);
    const plain = await send('POST', '/v2/deployments', fromGit(), { 'content-type': 'text/plain' });
    expect([plain.status, await plain.json()]).toEqual([415, { detail: expect.stringContaining('application/json') }]);
  });

  test('bodies are in UTF-8', async () => {
    const request = fromGit({ secrets: [{ name: 'A', value: 'Straße' }] });
    const sendAs = (body: Uint8Array<ArrayBuffer>, type: string) =>
      fetch(`${fixture.baseUrl}/v2/deployments`, {
        method: 'POST',
        headers: { 'x-api-key': fixture.apiKey, 'content-type': type },
        body,
      });
    const bytesIn = (encoding: 'latin1' | 'utf8') => Uint8Array.from(Buffer.from(JSON.stringify(request), encoding));
    const latin = await sendAs(bytesIn('latin1'), 'application/json');
    expect([latin.status, await latin.json()]).toMatchObject([422, { detail: [{ msg: 'The body is not UTF-8' }] }]);
    const other = await sendAs(bytesIn('latin1'), 'application/json; charset=ISO-8859-1');
    expect([other.status, await other.json()]).toEqual([415, { detail: expect.stringContaining('UTF-8') }]);
    expect((await sendAs(bytesIn('utf8'), 'application/json; charset="UTF-8"')).status).toBe(201);
  });

  eachClaim<[string, unknown, string[]]>([
    ['control.create.body-required', 'no body', undefined, ['body']],
    ['', 'a body that is not JSON', '{"secrets": "secret-value', ['body']],
    ['control.create.invalid-422', 'a body of the wrong shape', { ...fromGit(), name: 7 }, ['body', 'name']],
  ])('%s is a 422 with a list', { meta: { claims: ['control.errors.detail-list'] } }, async (_, body, loc) => {
    const answer = await send('POST', '/v2/deployments', body);
    const text = await answer.text();
    expect([answer.status, JSON.parse(text)]).toEqual([
      422,
      { detail: [{ loc, msg: expect.any(String), type: expect.any(String) }] },
    ]);
    expect(text).not.toContain('secret-value');
  });

  test(
    'a creation that breaks a rule is a 400 with a message',
    { meta: { claims: ['control.create.bad-request-400', 'control.errors.detail-string'] } },
    async () => {
      const answer = await send(
        'POST',
        '/v2/deployments',
        fromGit({ source_revision_config: { graph_config_path: null } }),
      );
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { detail: expect.stringContaining('graph_config_path') },
      ]);
    },
  );

  test(
    'paths start with their version',
    {
      meta: {
        claims: ['control.versioning.path-prefix', 'control.versioning.v2-paths', 'control.versioning.v1-paths'],
      },
    },
    async () => {
      const statusOf = async (path: string) => (await send('GET', path)).status;
      expect(await statusOf('/v2/deployments')).toBe(200);
      expect(await statusOf('/v2/listeners')).toBe(200);
      expect(await statusOf('/v1/integrations/github/install')).toBe(200);
      for (const path of [
        '/deployments',
        '/listeners',
        '/integrations/github/install',
        '/v1/deployments',
        '/v2/integrations/github/install',
      ])
        expect(await statusOf(path)).toBe(404);
    },
  );

  describe('authentication', () => {
    const ask = (headers: Record<string, string>, body?: unknown) =>
      fetch(`${fixture.baseUrl}/v2/deployments`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });

    test(
      'a valid key in X-Api-Key',
      { meta: { claims: ['control.auth.api-key-header', 'control.auth.create-api-key'] } },
      async () => {
        expect((await ask({ 'X-Api-Key': fixture.apiKey })).status).toBe(200);
        expect((await ask({ 'X-Api-Key': fixture.apiKey }, fromGit())).status).toBe(201);
      },
    );

    test('the key as a bearer token', { meta: { claims: ['control.auth.create-bearer'] } }, async () => {
      expect((await ask({ Authorization: `Bearer ${fixture.apiKey}` }, fromGit())).status).toBe(201);
    });

    test(
      'accepts the tenant of the key beside it, and no other',
      { meta: { claims: ['control.auth.create-tenant-id'] } },
      async () => {
        const own = { 'X-Api-Key': fixture.apiKey, 'X-Tenant-Id': fixture.tenantId };
        const answer = await ask(own, fromGit());
        expect([answer.status, await answer.json()]).toMatchObject([201, { tenant_id: fixture.tenantId }]);
        expect((await ask({ ...own, 'X-Tenant-Id': unknownId() }, fromGit())).status).toBe(403);
      },
    );

    test.each([
      ['no key', () => ({})],
      ['an invalid key', () => ({ 'X-Api-Key': 'letmein' })],
      ['an empty key', () => ({ 'X-Api-Key': '' })],
      ['an unknown key', () => ({ 'X-Api-Key': `lf_${'0'.repeat(16)}_${'a'.repeat(43)}` })],
      [
        'a known key with another suffix',
        () => ({ 'X-Api-Key': `${fixture.apiKey.slice(0, -1)}${fixture.apiKey.endsWith('A') ? 'B' : 'A'}` }),
      ],
      ['basic authorization', () => ({ Authorization: `Basic ${fixture.apiKey}` })],
      ['a tenant alone', () => ({ 'X-Tenant-Id': fixture.tenantId })],
    ])(
      '%s is refused before anything else',
      { meta: { claims: ['control.auth.invalid-refused'] } },
      async (_, headers) => {
        const before = (await fixture.control.listDeployments({ limit: 100 })).resources.length;
        const answer = await ask({ ...headers() }, fromGit());
        expect([answer.status, await answer.json()]).toEqual([401, { detail: expect.stringContaining('X-Api-Key') }]);
        expect((await fixture.control.listDeployments({ limit: 100 })).resources).toHaveLength(before);
      },
    );

    test('a key that was revoked', { meta: { claims: ['control.auth.invalid-refused'] } }, async () => {
      const key = makeApiKey();
      await fixture.store.addKey({ id: key.id, tenant_id: fixture.tenantId, hash: hashApiKey(key) });
      expect((await ask({ 'X-Api-Key': key.text })).status).toBe(200);
      await fixture.store.revokeKey(key.id);
      expect((await ask({ 'X-Api-Key': key.text })).status).toBe(401);
    });

    test('every path requires a key, except health', async () => {
      for (const path of [
        '/v1/x',
        '/v2/x',
        '/deployments/x/upload-url',
        `/v1/projects/${unknownId()}/revisions/${unknownId()}/build_logs`,
      ])
        expect((await fetch(`${fixture.baseUrl}${path}`, { method: 'POST' })).status).toBe(401);
      const [ok, info] = await Promise.all([fetch(`${fixture.baseUrl}/ok`), fetch(`${fixture.baseUrl}/info`)]);
      expect([await ok.json(), await info.json()]).toEqual([
        { ok: true },
        {
          service: expect.any(String),
          version: '0.1.0',
          idempotency_keys: true,
          verdicts: true,
          baselines: true,
          holds: false,
          pins_commits: true,
          copies_builds: true,
          scales_to_zero: true,
        },
      ]);
    });
  });

  test('a body that is too large is refused early, with or without its length', async () => {
    const large = JSON.stringify(fromGit({ secrets: [{ name: 'A', value: 'x'.repeat(maxBodyBytes) }] }));
    const reported = await send('POST', '/v2/deployments', large);
    expect([reported.status, await reported.json()]).toEqual([413, { detail: expect.any(String) }]);
    const unreported = await fetch(`${fixture.baseUrl}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': fixture.apiKey, 'content-type': 'application/json' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    });
    expect([unreported.status, await unreported.json()]).toEqual([413, { detail: expect.any(String) }]);
  });

  test('reads a body without Content-Length', async () => {
    const answer = await fetch(`${fixture.baseUrl}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': fixture.apiKey, 'content-type': 'application/json' },
      body: new Blob([JSON.stringify(fromGit())]).stream(),
      duplex: 'half',
    });
    expect(answer.status).toBe(201);
  });

  test('reports an unsupported method, with the supported ones', async () => {
    const answer = await send('PUT', '/v2/deployments', {});
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });

  test('lists take several ids, with commas or repeated', async () => {
    const [one, two] = [await create(), await create()];
    for (const query of [`deployment_ids=${one.id},${two.id}`, `deployment_ids=${one.id}&deployment_ids=${two.id}`]) {
      const answer = deploymentsList.parse(await (await send('GET', `/v2/deployments?${query}`)).json());
      expect(answer.resources.map(({ id }) => id)).toEqual([two.id, one.id]);
    }
  });

  test('responds in the public spelling on request', async () => {
    const resource_spec = { cache_cpu: 1 };
    const { id } = await fixture.control.createDeployment(fromImage({ source_config: { resource_spec } }));
    const reported = async (headers: Record<string, string>) =>
      (await send('GET', `/v2/deployments/${id}`, undefined, headers)).json();
    expect(await reported({})).toMatchObject({ source_config: { resource_spec } });
    const publicly = await reported({ 'X-Field-Names': 'public' });
    expect(publicly).toMatchObject({
      source_config: { resource_spec: { redis_cpu: 1 } },
      source_revision_config: { langgraph_config_path: null },
    });
    expect(JSON.stringify(publicly)).not.toContain('cache_cpu');
  });

  test('an internal error is logged, and its response repeats no input', async () => {
    const logged: string[] = [];
    const broken = createApp({
      serviceFor: () => {
        throw new Error('the roof fell in');
      },
      findKey: fixture.store.findKey,
      fieldNames: 'contract',
      log: loggerTo((message) => logged.push(message)),
    });
    const answer = await broken.request('/v2/deployments', { headers: { 'x-api-key': fixture.apiKey } });
    expect([answer.status, await answer.json()]).toEqual([500, { detail: expect.not.stringContaining('roof') }]);
    expect(logged.join()).toContain('the roof fell in');
  });

  test('responds with 503 and Retry-After without its database', async () => {
    const away = createApp({
      serviceFor: () => expect.unreachable(),
      findKey: () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
      fieldNames: 'contract',
      log: silentLogger,
    });
    const answer = await away.request('/v2/deployments', { headers: { 'x-api-key': fixture.apiKey } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  });

  test(
    'everything is below one base address, with or without a path',
    { meta: { claims: ['control.service.base-address'] } },
    async () => {
      const prefixed = await openServiceFixture({ prefix: '/api-host' });
      prefixed.rollouts.fate = 'held';
      try {
        const { id } = await prefixed.control.createDeployment(fromGit());
        const reported = await prefixed.control.getDeployment(id);
        expect(reported.url).toBe(`${prefixed.baseUrl}/agents/${id}`);
        expect(prefixed.baseUrl).toMatch(/\/api-host$/);
        const outside = await fetch(`${new URL(prefixed.baseUrl).origin}/v2/deployments`, {
          headers: { 'x-api-key': prefixed.apiKey },
        });
        expect([outside.status, await outside.json()]).toEqual([404, { detail: expect.stringContaining('/api-host') }]);
      } finally {
        await prefixed.close();
      }
    },
  );
});

test.each([
  ['without a base path a path is unchanged', '', '/v2/a', '/v2/a'],
  ['removes the base path', '/api', '/api/v2/a?b=c', '/v2/a?b=c'],
  ['maps the base path itself to the root', '/api', '/api', '/'],
  ['also with a query', '/api', '/api?a=b', '/?a=b'],
  ['ignores a path that only starts like the base path', '/api', '/api-host/v2', undefined],
  ['ignores a path outside the base path', '/api', '/v2/a', undefined],
])('%s', (_, basePath, url, path) => expect(below(basePath, url)).toBe(path));
