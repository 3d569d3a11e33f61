import nock from 'nock';
import { MockAgent } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import type { ControlServiceClient, ControlServiceSettings } from '../../src/client/control.ts';
import type { DeploymentCreateRequest } from '../../src/contract/control/deployment.ts';
import { checkNothingPending, connectedControl, host } from './intercepted.ts';
import { deploymentId, deploymentReply, revisionId, revisionReply, serviceError } from './stand-in.ts';

const connected = (settings: Partial<ControlServiceSettings> = {}): ControlServiceClient =>
  connectedControl({ retry: { attempts: 1 }, ...settings });

const create: DeploymentCreateRequest = {
  name: 'support',
  source: 'external_docker',
  source_config: { resource_spec: { cpu: 1.26, cache_memory_mb: 512 } },
  source_revision_config: { image_uri: 'registry.example.test/support:1' },
  secrets: [{ name: 'TOKEN', value: 'hunter22' }],
};
const deploymentPath = `/v2/deployments/${deploymentId}`;
const revisionPath = `${deploymentPath}/revisions/${revisionId}`;
const resources = { resources: [], offset: 0 };
const logs = { logs: [{ id: 'l1', timestamp: 1, level: 'INFO', message: 'built' }], next_offset: null };

afterEach(checkNothingPending);

type Step = [
  sentence: string,
  method: string,
  path: string,
  answer: object,
  call: (client: ControlServiceClient) => Promise<unknown>,
  sent?: object,
];

const steps: Step[] = [
  [
    'createDeployment',
    'POST',
    '/v2/deployments',
    deploymentReply,
    (client) => client.createDeployment(create),
    { ...create, source_config: { resource_spec: { cpu: 1.3, cache_memory_mb: 512 } } },
  ],
  ['getDeployment', 'GET', deploymentPath, deploymentReply, (client) => client.getDeployment(deploymentId)],
  [
    'patchDeployment',
    'PATCH',
    deploymentPath,
    deploymentReply,
    (client) => client.patchDeployment(deploymentId, { secrets: [] }),
    { secrets: [] },
  ],
  ['getRevision', 'GET', revisionPath, revisionReply, (client) => client.getRevision(deploymentId, revisionId)],
  [
    'listIntegrations',
    'GET',
    '/v1/integrations/github/install',
    [{ id: 'i1', installation_id: 7, name: 'acme' }],
    (client) => client.listIntegrations(),
  ],
  [
    'listListeners',
    'GET',
    '/v2/listeners?limit=5&offset=10',
    { resources: [{ id: 'l', compute_type: 'k8s' }], offset: 0 },
    (client) => client.listListeners({ limit: 5, offset: 10 }),
  ],
  [
    'listDeployments',
    'GET',
    '/v2/deployments?name=support+one&limit=100',
    resources,
    (client) => client.listDeployments({ name: 'support one', limit: 100 }),
  ],
  [
    'listDeployments by ids',
    'GET',
    '/v2/deployments?deployment_ids=a%2Cb',
    resources,
    (client) => client.listDeployments({ deployment_ids: ['a', 'b'] }),
  ],
  [
    'listRevisions',
    'GET',
    `${deploymentPath}/revisions?status=DEPLOYED%2CSKIPPED`,
    resources,
    (client) => client.listRevisions(deploymentId, { status: 'DEPLOYED,SKIPPED' }),
  ],
  [
    'redeployRevision',
    'POST',
    `${revisionPath}/redeploy`,
    deploymentReply,
    (client) => client.redeployRevision(deploymentId, revisionId),
  ],
  [
    'listRepositories',
    'GET',
    '/v1/integrations/github/i1/repos',
    [{ id: 1, name: 'support', owner: 'acme', url: 'https://example.test/acme/support' }],
    (client) => client.listRepositories('i1'),
  ],
  [
    'buildLogs',
    'POST',
    `/v1/projects/${deploymentId}/revisions/${revisionId}/build_logs`,
    logs,
    (client) => client.buildLogs(deploymentId, revisionId, { order: 'desc', limit: 50 }),
    { order: 'desc', limit: 50 },
  ],
  [
    'deployLogs',
    'POST',
    `/v1/projects/${deploymentId}/revisions/${revisionId}/deploy_logs`,
    logs,
    (client) => client.deployLogs(deploymentId, revisionId, {}),
    {},
  ],
];

describe('an operation of the control service', () => {
  test.each(steps)('%s is %s %s, and its answer is read', async (_, method, path, answer, call, sent) => {
    const bodies: unknown[] = [];
    nock(host, {
      reqheaders: { 'x-api-key': 'the-api-key', accept: 'application/json', 'user-agent': 'landfall/test' },
    })
      .intercept(`/api-host${path}`, method, (body: unknown) => {
        bodies.push(body);
        return true;
      })
      .reply(200, answer);
    const client = connected();
    expect(await call(client)).toMatchObject(answer);
    expect(bodies).toEqual([sent ?? '']);
    await client.close();
  });

  test('sends the three identification headers, and omits those that are not configured', async () => {
    const all = connected({ tenantId: 'tenant-1', bearer: 'the-token' });
    nock(host, {
      reqheaders: { 'x-api-key': 'the-api-key', 'x-tenant-id': 'tenant-1', authorization: 'Bearer the-token' },
    })
      .get(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    expect((await all.getDeployment(deploymentId)).id).toBe(deploymentId);
    const none = connected({ apiKey: undefined });
    nock(host, { badheaders: ['x-api-key', 'x-tenant-id', 'authorization'] })
      .get(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    expect((await none.getDeployment(deploymentId)).id).toBe(deploymentId);
    await Promise.all([all.close(), none.close()]);
  });

  test('uses the given connections, and leaves them open on close', async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    agent
      .get(host)
      .intercept({ path: `/api-host${deploymentPath}`, method: 'GET' })
      .reply(200, deploymentReply)
      .times(2);
    for (const client of [connected({ dispatcher: agent }), connected({ dispatcher: agent })]) {
      expect((await client.getDeployment(deploymentId)).id).toBe(deploymentId);
      await client.close();
    }
    await agent.close();
  });

  test('is not sent if the settings do not allow it, and reports the setting', async () => {
    const cases: [Partial<ControlServiceSettings>, string][] = [
      [{ baseUrl: 'http://control.example.test' }, 'set allow-http'],
      [{ baseUrl: 'no address' }, 'this is not an address'],
      [{ apiKey: 'two\nlines' }, 'the api key holds'],
      [{ bearer: 'schlüssel' }, 'the bearer token holds'],
      [{ env: { HTTPS_PROXY: 'http://[' } }, 'HTTPS_PROXY does not hold'],
    ];
    for (const [settings, words] of cases) {
      const client = connected(settings);
      const error = await serviceError(client.patchDeployment(deploymentId, {}));
      expect(error).toMatchObject({ kind: 'unreachable', effect: 'none', status: undefined });
      expect(error.message).toContain(words);
      await client.close();
    }
  });

  test('accepts a key with a trailing line break', async () => {
    nock(host, { reqheaders: { 'x-api-key': 'the-api-key' } })
      .get(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    expect((await connected({ apiKey: 'the-api-key\n' }).getDeployment(deploymentId)).id).toBe(deploymentId);
  });
});

describe('the field names', () => {
  const publicReply = {
    ...deploymentReply,
    source_config: { resource_spec: { redis_cpu: 1 } },
    source_revision_config: { langgraph_config_path: 'graph.json', repo_ref: 'main' },
  };

  test.each([
    ['contract', { graph_config_path: 'graph.json' }, { cache_cpu: 1 }],
    ['public', { langgraph_config_path: 'graph.json' }, { redis_cpu: 1 }],
  ] as const)('are %s in requests, as configured', async (spelling, revisionConfig, resourceSpec) => {
    nock(host)
      .patch(`/api-host${deploymentPath}`, {
        source_revision_config: revisionConfig,
        source_config: { resource_spec: resourceSpec },
      })
      .reply(200, deploymentReply);
    const patched = await connected({ spelling }).patchDeployment(deploymentId, {
      source_revision_config: { graph_config_path: 'graph.json' },
      source_config: { resource_spec: { cache_cpu: 1 } },
    });
    expect(patched.id).toBe(deploymentId);
  });

  test.each(['contract', 'public'] as const)('is read in both, with %s set', async (spelling) => {
    const client = connected({ spelling });
    for (const body of [deploymentReply, publicReply]) {
      nock(host).get(`/api-host${deploymentPath}`).reply(200, body);
      const { source_revision_config } = await client.getDeployment(deploymentId);
      expect(source_revision_config).toMatchObject({ graph_config_path: 'graph.json', repo_ref: 'main' });
      expect(source_revision_config).not.toHaveProperty('langgraph_config_path');
    }
    nock(host)
      .get(`/api-host${revisionPath}`)
      .reply(200, { ...revisionReply, source_revision_config: { langgraph_config_path: 'a.json' } });
    expect((await client.getRevision(deploymentId, revisionId)).source_revision_config).toEqual({
      graph_config_path: 'a.json',
    });
  });
});

test("a change names the commit and the other deployment's revision to build from", async () => {
  const commit = 'c'.repeat(40);
  const pin = { 'landfall-commit': commit, 'landfall-build-of': revisionId };
  nock(host, { reqheaders: pin }).patch(`/api-host${deploymentPath}`).reply(200, deploymentReply);
  const patched = await connected().patchDeployment(deploymentId, {}, { commit, buildOf: revisionId });
  expect(patched.id).toBe(deploymentId);
});

describe('the base revision of a change', () => {
  test('is sent as If-Match', async () => {
    nock(host, { reqheaders: { 'if-match': `"${revisionId}"` } })
      .patch(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    const patched = await connected().patchDeployment(deploymentId, { secrets: [] }, { ifLatest: revisionId });
    expect(patched.id).toBe(deploymentId);
  });

  test.each([
    ['where no header may carry it', 'a"\r\nx-api-key: b'],
    ['where there is none', undefined],
  ])('is left out %s', async (_, ifLatest) => {
    nock(host, { badheaders: ['if-match'] })
      .patch(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    const patched = await connected().patchDeployment(deploymentId, { secrets: [] }, { ifLatest });
    expect(patched.id).toBe(deploymentId);
  });

  test('is outdated on a 412, and nothing has taken effect', async () => {
    nock(host).patch(`/api-host${deploymentPath}`).reply(412, { detail: 'Look again.' });
    const error = await serviceError(connected().patchDeployment(deploymentId, {}, { ifLatest: revisionId }));
    expect(error).toMatchObject({ kind: 'conflict', status: 412, effect: 'none', detail: 'Look again.' });
  });
});

describe('a request that violates the contract', () => {
  test.each<[string, (client: ControlServiceClient) => Promise<unknown>, string]>([
    [
      'a value out of bounds',
      (client) => client.patchDeployment(deploymentId, { source_config: { resource_spec: { cpu: 9 } } }),
      'patch deployment: the request does not keep the contract: source_config.resource_spec.cpu',
    ],
    [
      'an empty name',
      (client) => client.createDeployment({ ...create, name: '' }),
      'create deployment: the request does not keep the contract: name',
    ],
    ['a page that is too long', (client) => client.listDeployments({ limit: 1000 }), 'list deployments'],
    ['an id that is none', (client) => client.getDeployment('..'), 'the deployment id'],
  ])('throws a plain error and sends nothing: %s', async (_, call, words) => {
    const error: unknown = await call(connected()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'Error', message: expect.stringContaining(words) });
    expect(String(error)).not.toContain('hunter22');
  });
});

describe('a response', () => {
  test('with unknown fields and values is accepted', async () => {
    nock(host)
      .get(`/api-host${revisionPath}`)
      .reply(200, { ...revisionReply, status: 'THINKING', mood: 'good' });
    expect(await connected().getRevision(deploymentId, revisionId)).toMatchObject({ status: 'THINKING', mood: 'good' });
  });

  test('with an invalid schema names the field, and is not requested again', async () => {
    nock(host)
      .get(`/api-host${deploymentPath}`)
      .reply(200, { ...deploymentReply, latest_revision_id: 7 });
    const error = await serviceError(connected({ retry: { attempts: 3 } }).getDeployment(deploymentId));
    expect(error).toMatchObject({ kind: 'unreadable', status: 200 });
    expect(error.message).toContain('latest_revision_id');
    expect(error.message).not.toContain('in-the-answer');
  });

  test('of a deployment may hide its secrets, or their values', async () => {
    const { secrets: _, ...silent } = deploymentReply;
    nock(host).get(`/api-host${deploymentPath}`).reply(200, silent);
    expect((await connected().getDeployment(deploymentId)).secrets).toBeUndefined();
    const secrets = [{ name: 'A', value: null }, { name: 'B' }];
    nock(host)
      .get('/api-host/v2/deployments')
      .reply(200, { resources: [{ ...silent, secrets }], offset: 0 });
    expect((await connected().listDeployments({})).resources[0]?.secrets).toEqual(secrets);
  });

  test.each<[number, object | string, object]>([
    [
      400,
      { detail: 'build_on_push cannot be enabled for a tag' },
      { kind: 'rejected', detail: 'build_on_push cannot be enabled for a tag' },
    ],
    [
      422,
      { detail: [{ loc: ['body', 'name'], msg: 'Field required', type: 'missing' }] },
      { kind: 'rejected', problems: [{ loc: ['body', 'name'], msg: 'Field required', type: 'missing' }] },
    ],
    [401, 'Unauthorized', { kind: 'unauthorized', detail: 'Unauthorized' }],
    [
      403,
      { detail: 'requires workspace specification' },
      { kind: 'unauthorized', detail: 'requires workspace specification' },
    ],
    [404, { detail: 'Not Found' }, { kind: 'missing' }],
    [405, '', { kind: 'missing', detail: undefined }],
    [409, { detail: 'a tracing project of that name exists' }, { kind: 'conflict' }],
    [501, '', { kind: 'missing', effect: 'none' }],
  ])('of %d is reported with its message', async (status, body, expected) => {
    nock(host).post('/api-host/v2/deployments').reply(status, body);
    const error = await serviceError(connected().createDeployment(create));
    expect(error).toMatchObject({
      status,
      operation: 'create deployment',
      method: 'POST',
      effect: 'none',
      ...expected,
    });
    expect(error.address).toBe(`${host}/api-host/v2/deployments`);
  });
});

describe('an error', () => {
  test('contains no secret of the request, even if the response repeats it', async () => {
    const secrets = ['hunter22', 'the-api-key', 'the-token', 'in the sidecar'];
    const request: DeploymentCreateRequest = {
      ...create,
      source_config: {
        resource_spec: { sidecars: [{ name: 'side', image: 'a', env: [{ name: 'A', value: 'in the sidecar' }] }] },
      },
    };
    const echo = `cannot take ${secrets.join(', ')} or ${encodeURIComponent('in the sidecar')}`;
    const answers: [number, object | string][] = [
      [400, { detail: echo }],
      [400, echo],
      [422, { detail: [{ loc: ['body', 'hunter22'], msg: echo, type: 'x', input: { value: 'hunter22' } }] }],
      [500, `<html><title>${echo}</title></html>`],
      [302, ''],
      [200, `{"name": "${echo}`],
      [200, { ...deploymentReply, id: 5, name: echo }],
    ];
    for (const [status, body] of answers) {
      nock(host)
        .post('/api-host/v2/deployments')
        .reply(status, body, status === 302 ? { location: `https://hunter22@example.test/?k=${echo}` } : {});
      const error = await serviceError(connected({ bearer: 'the-token' }).createDeployment(request));
      const reported = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      for (const secret of [...secrets, 'in%20the%20sidecar']) expect(reported).not.toContain(secret);
    }
  });

  test('shows neither the query nor the request', async () => {
    nock(host).get('/api-host/v2/deployments?name=private-name').reply(500, '');
    const error = await serviceError(connected().listDeployments({ name: 'private-name' }));
    expect(error.message).toBe(`list deployments: answered 500 (GET ${host}/api-host/v2/deployments)`);
  });
});
