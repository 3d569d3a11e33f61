import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { startUploadStub, storeSignature, uploadedDeployment, type UploadStub } from './upload-stub.ts';

const main = join(import.meta.dirname, '../../dist/index.js');

let workspace = '';
let stub: UploadStub;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'landfall-action-'));
});
afterEach(async () => {
  await stub.close();
  await rm(workspace, { recursive: true, force: true });
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), content);
  }
}

const run = (inputs: Record<string, string>): Promise<StepResult> =>
  runStep({
    main,
    workspace,
    inputs: { 'base-url': stub.url, 'api-key': 'key-of-the-service', name: 'echo', 'poll-seconds': '0.1', ...inputs },
  });

const folder = { 'source-dir': 'agent', 'graph-config-path': 'langgraph.json' };
const agent = {
  'agent/langgraph.json': '{"graphs":{"echo":"./graph.ts:graph"}}',
  'agent/graph.ts': 'export const graph = 1;\n',
  'agent/.env': 'KEY=canary-of-the-folder',
  'agent/node_modules/x/index.js': 'x',
};

describe('a folder, by the step as a runner spawns it', () => {
  test('is packed, uploaded without the key, and live; no change uploads nothing', async () => {
    stub = await startUploadStub();
    await write(agent);
    const step = await run(folder);
    expect(step).toMatchObject({
      exitCode: 0,
      outputs: { outcome: 'deployed', plan: 'create', changed: 'true', 'deployment-id': uploadedDeployment },
    });
    expect(stub.uploads).toHaveLength(1);
    const [upload] = stub.uploads;
    const held = await unpackTar(gunzipSync(upload?.bytes ?? Buffer.alloc(0)));
    expect(held.map(({ header }) => header.name)).toEqual(['graph.ts', 'langgraph.json']);
    expect(upload?.headers).not.toHaveProperty('x-api-key');
    expect(stub.written.at(-1)).toEqual({
      source_revision_config: { graph_config_path: 'langgraph.json', source_tarball_path: 'uploads/1.tar.gz' },
    });
    expect(step.log).toContain('Uploading 2 files');
    expect(step.summary).toContain('.env');
    expect(`${step.log}${step.summary}${JSON.stringify(step.outputs)}`).not.toMatch(
      new RegExp(`${storeSignature}|canary-of-the-folder`),
    );

    const again = await run(folder);
    expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false' } });
    expect(stub.uploads).toHaveLength(1);
  });

  test('is planned with its count, its size and its digest, and nothing is sent', async () => {
    stub = await startUploadStub();
    await write(agent);
    const step = await run({ ...folder, mode: 'plan' });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'planned', plan: 'create', changed: 'false' } });
    expect(step.log).toMatch(/\+ \S*source_tarball_path: sha256:[0-9a-f]{12} \(2 files, \d+ bytes packed\)/);
    expect(stub.requests.filter((each) => !each.startsWith('GET '))).toEqual([]);
  });

  test('that cannot be packed is annotated path by path, without any request', async () => {
    stub = await startUploadStub();
    await write({ 'agent/graph.ts': 'x' });
    await symlink('/etc/passwd', join(workspace, 'agent/out'));
    const step = await run(folder);
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', changed: 'false' } });
    expect(step.log).toMatch(/^::error .*file=agent\/out.*leads out of the folder/m);
    expect(step.log).toMatch(/^::error .*file=agent\/langgraph\.json.*not in the folder/m);
    expect(stub.requests).toEqual([]);
  });
});

describe('mode: delete, by the step as a runner spawns it', () => {
  test('deletes it with its tracing project, waits until it is gone, and passes', async () => {
    stub = await startUploadStub({ there: true });
    const step = await run({ mode: 'delete' });
    expect(step).toMatchObject({
      exitCode: 0,
      outputs: { outcome: 'deleted', changed: 'true', 'deployment-id': uploadedDeployment, 'active-revision-id': '' },
    });
    expect(stub.requests).toContain(`DELETE /v2/deployments/${uploadedDeployment}?delete_tracing_project=true`);
    expect(stub.state()).toBeUndefined();
    expect(step.summary).toContain('✅ echo: deleted');
    expect(step.log).toContain('::group::Deletion');

    const again = await run({ mode: 'delete' });
    expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'deleted', changed: 'false' } });
    expect(again.outputs['reason']).toContain('not there');
  });

  test.each([
    ['keeps the tracing project with keep-tracing-project', { 'keep-tracing-project': 'true' }, 'deleted', 'false'],
    ['writes nothing in a dry run', { 'dry-run': 'true' }, 'planned', undefined],
  ])('%s', async (_, inputs, outcome, withProject) => {
    stub = await startUploadStub({ there: true });
    expect(await run({ mode: 'delete', ...inputs })).toMatchObject({ exitCode: 0, outputs: { outcome } });
    const deletions = stub.requests.filter((each) => each.startsWith('DELETE '));
    const path = `DELETE /v2/deployments/${uploadedDeployment}`;
    expect(deletions).toEqual(withProject === undefined ? [] : [`${path}?delete_tracing_project=${withProject}`]);
  });
});
