import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startUploadStub, uploadedDeployment, type UploadStub } from '../action/upload-stub.ts';
import { folderOf, runHere } from './run-cli.ts';

let stub: UploadStub | undefined;
let remove = (): void => {};
afterEach(async () => {
  remove();
  await stub?.close();
  stub = undefined;
});

const agent = { 'agent/langgraph.json': '{"graphs":{"a":"./a.ts:a"}}', 'agent/a.ts': 'a', 'agent/.env': 'SECRET=1' };
const deployFile = { '.github/landfall.yml': 'name: echo\nsource-dir: agent\ngraph-config-path: langgraph.json\n' };

async function result(args: string[], files: Record<string, string> = {}, { there = false } = {}) {
  stub = await startUploadStub({ there });
  const folder = folderOf({ 'a.txt': '', ...files });
  remove = folder.remove;
  const env = { LANDFALL_BASE_URL: stub.url, LANDFALL_API_KEY: 'key-of-the-service' };
  return runHere([...args], { cwd: folder.path, env });
}

describe('a folder on a terminal', () => {
  const requested = ['--name', 'echo', '--source-dir', 'agent', '--graph-config-path', 'langgraph.json'];

  test('plan prints the upload and the excluded files, and writes nothing', async () => {
    const end = await result(['plan', ...requested], agent);
    expect(end.code).toBe(0);
    expect(end.out).toMatch(/\+ \S*source_tarball_path: sha256:[0-9a-f]{12} \(2 files, \d+ bytes packed\)/);
    expect(end.out).toContain('left out of the upload by default: .env');
    expect(stub?.written).toEqual([]);
  });

  const github = ['--name', 'echo', '--repo-url', 'https://github.com/acme/agents', '--repo-ref', 'main'];
  const here = [...github, '--commit', 'c0ffee0', '--graph-config-path', 'agent/langgraph.json'];
  test.each([
    ['the folder', requested, []],
    ['the repository', here, []],
    ['no folder that is installed otherwise', here, ['--install-command', 'make']],
  ])('plan says what a build refuses of the packages in %s', async (_, source, more) => {
    const lock = `"@langchain/langgraph@^0.2.5":\n  version "0.2.8"\n`;
    const end = await result(['plan', ...source, ...more], { ...agent, 'agent/yarn.lock': lock });
    expect(end.code).toBe(0);
    const says = 'a build of the files here fails: agent/yarn.lock: @langchain/langgraph is 0.2.8';
    expect(end.out.includes(says)).toBe(more.length === 0);
  });

  test('plan says what a build refuses of a graph in Python', async () => {
    const config = `{ "graphs": { "a": "./a.py:graph" }, "dependencies": ["."],\n"dockerfile_lines": ["RUN make"] }`;
    const lock = 'name = "langgraph"\nversion = "0.5.4"\n';
    const files = { 'agent/langgraph.json': config, 'agent/pyproject.toml': '', 'agent/uv.lock': lock };
    const end = await result(['plan', ...requested], { ...agent, ...files });
    expect(end.out).toMatch(
      /a build of the files here fails: agent\/langgraph\.json:2:22: `dockerfile_lines\[0\]` needs/,
    );
    expect(end.out).toMatch(
      /a build of the files here fails: agent\/uv\.lock: langgraph is 0\.5\.4, and agents need 0\.6/,
    );
  });

  test('deploy says at once what its build refuses of the packages', async () => {
    const lock = `"@langchain/langgraph@^0.2.5":\n  version "0.2.8"\n`;
    const end = await result(['deploy', ...requested, '--poll-seconds', '0.1'], { ...agent, 'agent/yarn.lock': lock });
    expect(end.out).toMatch(/^Note: a build of the files here fails: agent\/yarn\.lock: /m);
  });

  test('deploy uploads it and exits with 0', async () => {
    const end = await result(['deploy', ...requested, '--poll-seconds', '0.1'], agent);
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toMatch(/^deployed: /m);
    expect(stub?.uploads).toHaveLength(1);
  });

  test('a missing one exits with 2, and sends nothing', async () => {
    const end = await result(['deploy', ...requested]);
    expect(end.code).toBe(2);
    expect(end.err).toBe('agent: there is no such file or folder\n');
    expect(stub?.requests).toEqual([]);
  });
});

describe('landfall validate of a folder', () => {
  test('packs it and prints its size', async () => {
    const end = await result(['validate'], { ...agent, ...deployFile });
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out.split('\n').slice(0, 2)).toEqual(['.github/landfall.yml: fine', 'agent/langgraph.json: fine']);
    expect(end.out).toMatch(/^agent \(2 files, \d+ bytes packed, sha256:[0-9a-f]{64}\): fine$/m);
  });

  test('reports all errors of file, graph configuration and folder at once', async () => {
    const folder = folderOf({
      '.github/landfall.yml': `${deployFile['.github/landfall.yml']}rebuild: sometimes\n`,
      'agent/langgraph.json': '{"graph":{}}',
    });
    remove = folder.remove;
    mkdirSync(join(folder.path, 'agent/sub'));
    symlinkSync('../../outside', join(folder.path, 'agent/sub/link'));
    const end = await runHere(['validate'], { cwd: folder.path });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err.trimEnd().split('\n')).toEqual([
      '.github/landfall.yml:4:10: `rebuild` must be one of `auto`, `always`, `never`',
      expect.stringMatching(/^agent\/langgraph\.json:1:1: `graphs` is missing/),
      'agent/langgraph.json:1:2: `graph` is not known; did you mean `graphs`?',
      expect.stringMatching(/^agent\/sub\/link: this link leads out of the folder/),
    ]);
  });

  test('reports a missing graph configuration once', async () => {
    const end = await result(['validate'], { ...deployFile, 'agent/a.ts': 'a' });
    expect(end.code).toBe(2);
    expect(end.err).toBe('agent/langgraph.json: this graph configuration is not in the folder that is uploaded\n');
  });
});

describe('landfall delete', () => {
  test('deletes the named one and exits with 0', async () => {
    const end = await result(['delete', '--name', 'echo', '--poll-seconds', '0.1'], {}, { there: true });
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toMatch(/^deleted: Deployment echo \(/m);
    expect(end.out).toContain(`Deployment: ${uploadedDeployment}`);
    expect(stub?.state()).toBeUndefined();
  });

  test('needs neither a source nor a secret of the deploy file', async () => {
    const files = { '.github/landfall.yml': 'deployments:\n  echo:\n    secrets: [NOT_SET]\n' };
    expect((await result(['delete', '--poll-seconds', '0.1'], files, { there: true })).code).toBe(0);
    expect(stub?.state()).toBeUndefined();
  });

  test('refuses several deployments of a file', async () => {
    const files = { '.github/landfall.yml': 'deployments:\n  echo: {}\n  other: {}\n' };
    expect(await result(['delete'], files, { there: true })).toMatchObject({
      code: 2,
      err: expect.stringContaining('choose one with `deployment`'),
    });
    expect(stub?.requests).toEqual([]);
  });

  test('passes as JSON if there is none', async () => {
    const end = await result(['delete', '--name', 'echo', '--json']);
    expect(end.code).toBe(0);
    expect(JSON.parse(end.out)).toMatchObject({ outcome: 'deleted', passes: true, changed: false });
  });

  test('prints the deployment in a dry run', async () => {
    const end = await result(['delete', '--name', 'echo', '--dry-run'], {}, { there: true });
    expect(end.code).toBe(0);
    expect(end.out).toMatch(/^planned: Deployment echo \(.*would be deleted, and its tracing project with it\.$/m);
    expect(stub?.state()).toBe('READY');
  });
});
