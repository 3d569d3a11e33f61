import nock from 'nock';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectControlService, type ControlServiceClient } from '../../src/client/control.ts';
import type { FieldNameSetting } from '../../src/contract/control/aliases.ts';
import type { DeploymentCreateRequest } from '../../src/contract/control/deployment.ts';
import { deploymentId, deploymentReply, quickClock, serviceError } from './stand-in.ts';

const host = 'https://control.example.test';
const connected = (spelling: FieldNameSetting = 'auto'): ControlServiceClient => {
  const client = connectControlService({
    baseUrl: host,
    apiKey: 'the-api-key',
    spelling,
    userAgent: 'landfall/test',
    clock: quickClock(),
    env: {},
    retry: { attempts: 1 },
  });
  onTestFinished(() => client.close());
  return client;
};

afterEach(() => {
  const missed = nock.pendingMocks();
  nock.cleanAll();
  if (missed.length > 0) throw new Error(`never requested: ${missed.join(', ')}`);
});

const create: DeploymentCreateRequest = {
  name: 'support',
  source: 'internal_source',
  source_config: {},
  source_revision_config: { graph_config_path: 'graph.json' },
  secrets: [],
};
const withPath = (name: string) => ({ source_revision_config: { [name]: 'graph.json' } });
const patch = { source_revision_config: { graph_config_path: 'graph.json' } };
const deploymentPath = `/v2/deployments/${deploymentId}`;
const created = (name: string) =>
  nock(host)
    .post('/v2/deployments', (body) => JSON.stringify(body).includes(`"${name}"`))
    .reply(201, deploymentReply);

describe('the field names of a request', () => {
  test.each(['graph_config_path', 'langgraph_config_path'])('are those of what was read before: %s', async (name) => {
    const client = connected();
    nock(host)
      .get(deploymentPath)
      .reply(200, { ...deploymentReply, ...withPath(name) });
    await client.getDeployment(deploymentId);
    nock(host)
      .patch(deploymentPath, withPath(name))
      .reply(200, { ...deploymentReply, ...withPath(name) });
    expect(await client.patchDeployment(deploymentId, patch)).toMatchObject({ id: deploymentId });
  });

  test.each(['graph_config_path', 'langgraph_config_path'])('are those of the OpenAPI document: %s', async (name) => {
    nock(host)
      .get('/openapi.json')
      .reply(200, { components: { schemas: { Config: { properties: { [name]: {} } } } } });
    created(name);
    expect(await connected().createDeployment(create)).toMatchObject({ id: deploymentId });
  });

  test('are those of any deployment where there is no document', async () => {
    nock(host).get('/openapi.json').reply(404);
    nock(host)
      .get('/v2/deployments?limit=1')
      .reply(200, { resources: [{ source_config: { resource_spec: { redis_cpu: 1 } } }], offset: 0 });
    created('langgraph_config_path');
    expect(await connected().createDeployment(create)).toMatchObject({ id: deploymentId });
  });

  test('are those of a refusal where the service shows none before', async () => {
    const client = connected();
    nock(host).get('/openapi.json').reply(200, '<title>Welcome</title>');
    nock(host).get('/v2/deployments?limit=1').reply(200, { resources: [], offset: 0 });
    nock(host)
      .post('/v2/deployments', (body) => JSON.stringify(body).includes('"graph_config_path"'))
      .reply(400, { detail: 'langgraph_config_path is required' });
    created('langgraph_config_path');
    expect(await client.createDeployment(create)).toMatchObject({ id: deploymentId });
    created('langgraph_config_path');
    expect(await client.createDeployment(create)).toMatchObject({ id: deploymentId });
  });

  test('are not queried where a request has none that differ', async () => {
    const queried = nock(host)
      .get(/openapi|limit/)
      .reply(404);
    nock(host).patch(deploymentPath, { secrets: [] }).reply(200, deploymentReply);
    expect(await connected().patchDeployment(deploymentId, { secrets: [] })).toMatchObject({ id: deploymentId });
    expect(queried.isDone()).toBe(false);
    nock.cleanAll();
  });

  test.each<[string, object]>([
    ['a sentence', { detail: 'langgraph_config_path is required' }],
    ['a list', { detail: [{ loc: ['body', 'langgraph_config_path'], msg: 'Field required', type: 'missing' }] }],
  ])('that are set wrongly are named as that, beside %s', async (_, body) => {
    nock(host).post('/v2/deployments').reply(422, body);
    nock(host).get('/openapi.json').reply(200, withPath('langgraph_config_path'));
    const error = await serviceError(connected('contract').createDeployment(create));
    expect(error.message).toContain('langgraph_config_path');
    expect(error.message).toContain('field-names: this service uses the "public" names');
  });

  test('known of the service are not doubted by a refusal in the other names', async () => {
    const client = connected();
    nock(host)
      .get(deploymentPath)
      .reply(200, { ...deploymentReply, ...withPath('langgraph_config_path') });
    await client.getDeployment(deploymentId);
    nock(host).patch(deploymentPath).once().reply(400, { detail: 'graph_config_path must name a file' });
    const error = await serviceError(client.patchDeployment(deploymentId, patch));
    expect(error.message).toContain('must name a file');
    expect(error.message).not.toContain('field-names');
  });

  test('that are set rightly are no part of another refusal', async () => {
    nock(host).post('/v2/deployments').reply(400, { detail: 'langgraph_config_path must be a file' });
    const error = await serviceError(connected('public').createDeployment(create));
    expect(error.message).not.toContain('field-names');
  });
});
