import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runStep, type StepResult } from '../../../src/demo/runner.ts';
import { runHere } from '../../cli/run-cli.ts';
import { installPublicAgentServer, startPublicAgentServer } from '../start-public-agent-server.ts';
import { key, startPublicStandIn, type PublicStandIn } from './stand-in.ts';
import { repository, type Hiding, type StandInSettings } from './stand-in-state.ts';

// The Action and the command line on a stand-in of the public control service, with nothing set but its address and a key.

const main = join(import.meta.dirname, '../../../dist/index.js');
let workspace = '';

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'landfall-public-'));
  await mkdir(join(workspace, 'agent'));
  await writeFile(join(workspace, 'agent/langgraph.json'), '{"graphs":{"echo":"./graph.ts:graph"}}');
  await writeFile(join(workspace, 'agent/graph.ts'), 'export const graph = 1;\n');
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

async function started(settings: StandInSettings = {}): Promise<PublicStandIn> {
  const service = await startPublicStandIn(settings);
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    expect(service.mistakes).toEqual([]);
  });
  return service;
}

const github = {
  GITHUB_REPOSITORY: 'acme/echo',
  GITHUB_SHA: 'a'.repeat(40),
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SERVER_URL: 'https://github.com',
};
const step = (
  service: PublicStandIn,
  inputs: Record<string, string>,
  env: Record<string, string> = {},
): Promise<StepResult> =>
  runStep({
    main,
    workspace,
    github,
    env,
    inputs: { 'base-url': service.url, 'api-key': key, name: 'echo', 'poll-seconds': '0.1', ...inputs },
  });

const fromGit = { 'repo-url': repository, 'repo-ref': 'main', 'graph-config-path': 'langgraph.json' };
const fromFolder = { 'source-dir': 'agent', 'graph-config-path': 'langgraph.json', 'deployment-type': 'dev' };
const deployed = { exitCode: 0, outputs: { outcome: 'deployed' } };

describe('the Action on the public control service', () => {
  test.each<[string, StandInSettings, Record<string, string>]>([
    ['a repository', {}, fromGit],
    ['a repository, where no document shows the names of fields', { hasDocument: false }, fromGit],
    ['a folder', {}, fromFolder],
    [
      'an image with resources',
      {},
      {
        source: 'external_docker',
        'image-uri': 'acme/echo:1',
        'resource-spec': '{"cache_cpu": 0.5, "memory_mb": 512}',
      },
    ],
    ['an image of its registry', {}, { source: 'internal_docker', 'image-uri': 'registry.example.com/acme/echo:1' }],
  ])('creates a deployment of %s, and finds nothing to change in it', async (_, settings, inputs) => {
    const service = await started(settings);
    expect(await step(service, inputs)).toMatchObject(deployed);
    const again = await step(service, { ...inputs, mode: 'plan' });
    expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'planned' } });
    // The service does not report what was uploaded last.
    expect(again.outputs['plan']).toBe('source-dir' in inputs ? 'patch' : 'none');
    expect(service.unknownFields).toEqual(settings.hasDocument === false ? ['graph_config_path'] : []);
    expect(service.uploads).toHaveLength('source-dir' in inputs ? 1 : 0);
  });

  test.each<Hiding>(['empty', 'masked', 'null', 'unlisted'])('keeps secrets whose values are %s', async (hiding) => {
    const service = await started({ hiding: 'shown' });
    const env = {
      ONE: 'first-secret',
      OTHER: 'other-secret',
      LANGSMITH_API_KEY: 'own-key',
      POSTGRES_URI_CUSTOM: 'own-db',
    };
    const names = Object.keys(env);
    const made = await step(service, { ...fromGit, secrets: names.join('\n') }, env);
    expect(made).toMatchObject(deployed);
    service.state.settings.hiding = hiding;
    const kept = () =>
      service.state.secretsOf(made.outputs['deployment-id'] ?? '').map(({ name, value }) => [name, value]);
    expect(kept()).toEqual(Object.entries(env));

    const without = await step(service, fromGit);
    expect(without).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged' } });
    const one = await step(service, { ...fromGit, secrets: 'ONE' }, { ONE: 'changed-secret' });
    expect(one).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(one.log).toContain(hiding === 'unlisted' ? 'does not say which secrets there are' : 'secrets.OTHER');
    expect(kept()).toEqual(Object.entries(env));

    const strategy = hiding === 'unlisted' ? { 'secrets-strategy': 'overwrite' } : {};
    const changed = { ...env, ONE: 'changed-secret' };
    const all = await step(service, { ...fromGit, ...strategy, secrets: names.join('\n') }, changed);
    expect(all).toMatchObject(deployed);
    expect(all.log).toContain(
      hiding === 'unlisted'
        ? 'so all of them are replaced'
        : "it can't be compared, because the service hides its value",
    );
    expect(kept()).toEqual(Object.entries(changed));
  });

  test('names what it created where an upload is refused, and goes on from there', async () => {
    const service = await started({ refusesUploads: true });
    const refused = await step(service, fromFolder);
    expect(refused).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
    expect(refused.log).toContain('AccessDenied: Access denied.');
    expect(refused.log).toContain(`Deployment echo (${refused.outputs['deployment-id']}) was created and waits`);
    service.state.settings.refusesUploads = false;
    const again = await step(service, fromFolder);
    expect(again).toMatchObject(deployed);
    expect(again.outputs['deployment-id']).toBe(refused.outputs['deployment-id']);
  });

  test('reports a quota, and a key that is not accepted', async () => {
    const service = await started({ quota: 0 });
    const full = await step(service, fromGit);
    expect(full).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(full.log).toContain('Your plan allows 0 deployments');
    expect((await step(service, { ...fromGit, 'api-key': 'wrong' })).log).toContain('Check what the key in api-key');
  });

  test('names a spelling that was set wrongly', async () => {
    const service = await started();
    const wrong = await step(service, { ...fromGit, 'field-names': 'contract' });
    expect(wrong.log).toContain('field-names: this service uses the "public" names');
    expect(wrong).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  });

  test('tests the agent, rolls back, and deletes', async () => {
    await installPublicAgentServer();
    const agent = await startPublicAgentServer('echo-agent');
    onTestFinished(() => agent.stop());
    const service = await started({ agentUrl: agent.url });
    const tests = (said: string) =>
      JSON.stringify([
        {
          name: 'hello',
          assistant: 'echo',
          input: { input: 'Ada' },
          expect: { values: [{ path: '$.output', contains: said }] },
        },
      ]);
    const first = await step(service, { ...fromGit, 'smoke-tests': tests('hello Ada') });
    expect(first).toMatchObject(deployed);
    expect(await step(service, { mode: 'smoke', 'smoke-tests': tests('hello Ada') })).toMatchObject({ exitCode: 0 });
    const broken = { ...fromGit, rebuild: 'always', 'smoke-tests': tests('good bye') };
    const second = await step(service, broken);
    expect(second).toMatchObject({ exitCode: 1, outputs: { outcome: 'broken' } });
    const back = await step(service, { mode: 'rollback', 'smoke-tests': tests('hello Ada') });
    expect(back).toMatchObject({ exitCode: 0, outputs: { outcome: 'rolled-back' } });
    expect(await step(service, { mode: 'delete' })).toMatchObject({ exitCode: 0, outputs: { outcome: 'deleted' } });
  });
});

test('the command line on the public control service', async () => {
  const service = await started();
  const env = { LANDFALL_BASE_URL: service.url, LANDFALL_API_KEY: key };
  const run = (command: string, ...more: string[]) =>
    runHere([command, '--name', 'echo', ...more], { cwd: workspace, env });
  const options = ['--source-dir', 'agent', '--graph-config-path', 'langgraph.json', '--poll-seconds', '0.1'];
  expect((await run('plan', ...options)).out).toContain('A deployment would be created');
  expect(await run('deploy', ...options)).toMatchObject({ code: 0, err: '' });
  expect(service.uploads).toHaveLength(1);
  expect(await run('deploy', ...options)).toMatchObject({ code: 0, err: '' });
  expect((await run('rollback', '--poll-seconds', '0.1')).out).toMatch(/^rolled-back: /m);
  expect((await run('delete', '--poll-seconds', '0.1')).out).toMatch(/^deleted: /m);
  expect(service.unknownFields).toEqual([]);
});
