import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { tarballOf } from '../../services/control/builds/tarballs.ts';
import { tarball } from '../../services/control/uploads/upload-places.ts';
import { refusalOf } from '../../services/control/service-fixture.ts';
import { linkPackages } from '../../installed-packages.ts';
import { installPublicCli, publicCli, type CliEnd } from './public-cli.ts';
import { openServed, type Served } from './service.ts';

// `langgraphjs deploy` as its vendor publishes it, configured for our service by its own setting.

let served: Served;
let cwd = '';
const cli = (...args: string[]): Promise<CliEnd> => publicCli(args, { url: served.url, apiKey: served.apiKey, cwd });
const deploy = (...args: string[]): Promise<CliEnd> => cli('--remote', '--no-input', '--json', '--name', name, ...args);
const name = 'from-the-public-cli';
let id = '';

/** Installing takes as long as the registry does. */
beforeAll(async () => {
  await installPublicCli();
  served = await openServed('public');
  cwd = join(served.folder, 'agent');
  await served.agent('talker', cwd);
  await writeFile(join(cwd, '.env'), 'MOOD=cheerful\nPORT=1\n');
});
afterAll(() => served?.close());

const ended = (end: CliEnd) => end.events.at(-1);
const statuses = async (): Promise<string[]> =>
  (await served.control.listRevisions(id, {})).resources.map(({ status }) => status);

test('deploys a folder, and waits until it is live', async () => {
  const end = await deploy('--install-command', linkPackages);
  expect([end.code, end.stderr]).toEqual([0, '']);
  const [deployment] = (await served.control.listDeployments({ name })).resources;
  id = deployment?.id ?? '';
  expect(deployment).toMatchObject({ source: 'internal_source', source_config: { deployment_type: 'dev' } });
  const url = `${served.url}/agents/${id}`;
  expect(ended(end)).toMatchObject({ event: 'result', status: 'succeeded', deployment_id: id, url });
  expect(await statuses()).toEqual(['DEPLOYED', 'SKIPPED']);
  const answer = await fetch(`${url}/runs/wait`, {
    method: 'POST',
    headers: { 'x-api-key': served.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'talk', input: { input: 'you' } }),
  });
  expect(await answer.json()).toMatchObject({ said: 'first you', mood: 'cheerful' });
});

test('lists it with its address, and reads its revisions and logs', async () => {
  const [list, revisions, built, ran] = await Promise.all([
    cli('list', '--name-contains', 'public'),
    cli('revisions', 'list', id),
    cli('logs', '--name', name, '--type', 'build'),
    cli('logs', '--deployment-id', id, '--level', 'info', '--query', 'HEALTHY', '--start-time', '2001-01-01T00:00:00Z'),
  ]);
  expect(list.stdout).toMatch(new RegExp(`^${id} +${name} +${served.url}/agents/${id}$`, 'm'));
  expect(revisions.stdout).toMatch(/ DEPLOYED .*\n.* SKIPPED /);
  expect(built.stdout).toContain(`Installing: ${linkPackages}`);
  expect(ran.stdout).toContain('The agent is healthy');
});

test('reports a failed build with its log tail, and the former revision stays live', async () => {
  const end = await deploy('--install-command', 'node no-such-file.mjs');
  expect(end.code).toBe(1);
  expect(ended(end)).toMatchObject({ event: 'result', status: 'failed' });
  const said = end.events.flatMap(({ event, message }) => (event === 'log' ? [message] : []));
  expect(said.join('\n')).toContain('no-such-file.mjs');
  expect(await statuses()).toEqual(['BUILD_FAILED', 'DEPLOYED', 'SKIPPED']);
});

test('rejects a deployment whose source is no upload with a message of its own', async () => {
  const body = { source: 'internal_docker', source_config: {}, source_revision_config: {}, secrets: [] };
  const other = await served.control.createDeployment({ ...body, name: 'pushed' });
  const end = await cli('--remote', '--no-input', '--json', '--deployment-id', other.id);
  expect(end.code).toBe(1);
  expect(ended(end)).toMatchObject({
    event: 'error',
    message: expect.stringContaining("only available for 'internal_source' source deployments"),
  });
});

test('rejects an invalid key', async () => {
  const end = await publicCli(['list'], { url: served.url, apiKey: 'none', cwd });
  expect(end).toMatchObject({ code: 1, stderr: expect.stringContaining('status 401') });
});

test('deletes it', async () => {
  expect(await cli('delete', id, '--force')).toMatchObject({ code: 0, stdout: `Deleted deployment ${id}.\n` });
  const isGone = () =>
    served.control.getDeployment(id).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof ServiceError ? error.kind : 'another error'),
    );
  await expect.poll(isGone).toBe('missing');
  expect((await cli('list', '--name-contains', name)).stdout).toBe('No deployments found.\n');
});

test('does not build without a graph configuration if it was created without one', async () => {
  const body = { source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  const made = await served.control.createDeployment({ ...body, name: 'without' });
  const { upload_url, object_path: source_tarball_path } = await served.control.requestUpload(made.id);
  expect((await fetch(upload_url, tarball(tarballOf()))).ok).toBe(true);
  const patch = { source_revision_config: { source_tarball_path } };
  expect(await refusalOf(served.control.patchDeployment(made.id, patch))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('graph_config_path is required beside source_tarball_path'),
  });
});
