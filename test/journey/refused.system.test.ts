import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool } from '../../src/services/control/builds/find-tool.ts';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { installedPackages } from '../installed-packages.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
/** The PATH of the service. */
let tools: string;
let address = '';

beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), 'landfall-tools-'));
  await symlink(findTool('git', process.env['PATH'] ?? '') ?? '', join(tools, 'git'));
  fixture = await openJourneyFixture({ env: { ...process.env, PATH: tools } });
  repository = await fixture.repository('talker');
  await write({ node_modules: undefined, 'package.json': undefined });
  await symlink(installedPackages(), join(repository.folder, 'node_modules'));
  await repository.commit('Bring the packages along');
});
afterAll(async () => {
  await fixture?.close();
  await rm(tools, { recursive: true });
});

const run = (inputs: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, { inputs: { 'install-command': '', ...inputs } });

/** Writes files of the repository; removes those that are undefined. */
async function write(files: Record<string, string | undefined>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(repository.folder, name);
    await (text === undefined ? rm(path, { recursive: true, force: true }) : writeFile(path, text));
  }
}

const config = (graphs: object, more: object = {}): string => JSON.stringify({ graphs, ...more }, undefined, 2);
const sound = config({ talk: './graph.ts:graph' });

test('a sound agent serves', async () => {
  const step = await run();
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } });
  address = step.outputs['deployment-url'] ?? '';
  expect(await fixture.ask(address, 'you')).toMatchObject({ said: 'first you' });
});

describe('what cannot be built fails the step, and the former revision stays live', () => {
  test.each<[string, Record<string, string | undefined>, RegExp[]]>([
    [
      'a graph in Python whose packages are not there',
      {
        'langgraph.json': config({ talk: './graph.py:graph' }, { dependencies: ['./lost'] }),
        'graph.py': 'graph = 1\n',
      },
      [/`dependencies\[0\]` names a folder that is not there/],
    ],
    [
      'a configuration with a slip of the finger',
      { 'graph.py': undefined, 'langgraph.json': config({ talk: './graph.ts:graph' }, { dependancies: ['.'] }) },
      [/langgraph\.json:5:3: .*did you mean `dependencies`/],
    ],
    [
      'a configuration that is no JSON',
      { 'langgraph.json': '{\n  "graphs": {\n' },
      [/The graph configuration is invalid: langgraph\.json:\d+:\d+: /],
    ],
    [
      'a configuration that is not there',
      { 'langgraph.json': undefined },
      [/has no file langgraph\.json/, /Check source_revision_config\.graph_config_path/],
    ],
    [
      'packages without a lock file, on a machine without npm',
      { 'langgraph.json': sound, 'package.json': '{ "name": "talker" }' },
      [
        /package\.json has no lock file/,
        /npm is not installed on this machine\. Install npm, or set source_config\.install_command/,
      ],
    ],
    [
      'a lock file of a tool that this machine lacks',
      { 'bun.lock': '{}' },
      [/bun\.lock selects bun\. bun is not installed on this machine, and neither is npm/, /Install npm, or set/],
    ],
    [
      'an export that is not there',
      {
        'bun.lock': undefined,
        'package.json': undefined,
        'langgraph.json': config({ talk: './graph.ts:grap' }),
      },
      [/has no export "grap"/, /Did you mean "graph"\?/],
    ],
  ])('%s', async (_, files, sentences) => {
    await write(files);
    await repository.commit('Break it');
    const step = await run();
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed', plan: 'patch', changed: 'true' } });
    for (const sentence of sentences) expect(step.outputs['reason']).toMatch(sentence);
    expect(step.outputs['reason']).toMatch(/Revision \S+ still serves\.$/);
    expect(step.outputs['active-revision-id']).not.toBe(step.outputs['revision-id']);
    expect(await fixture.ask(address, 'you')).toMatchObject({ said: 'first you' });
  });
});

describe('rejects a malicious repo-url before it makes anything', () => {
  const trap = (): string => join(tools, 'sprung');
  test.each<[string, (file: string) => string, string]>([
    ['a protocol of git that runs commands', (file) => `ext::sh -c touch% ${file}`, 'spaces'],
    ['the same without blanks', (file) => `ext::touch%20${file}`, 'must be the https address'],
    ['an option of git', (file) => `--upload-pack=touch\${IFS}${file}`, 'hyphen'],
    ['a folder that is not allowed', () => 'file:///etc', '--allow-git'],
    ['a way out of the folder that is allowed', () => `${repository.folder}/../../../data`, '--allow-git'],
    ['an address for which there is no key', () => 'git@github.com:acme/talker.git', 'https address'],
  ])('%s', async (_, url, sentence) => {
    const step = await run({ name: 'trap', 'repo-url': url(trap()) });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', changed: 'false', 'deployment-id': '' } });
    expect(step.outputs['reason']).toContain(sentence);
    expect(existsSync(trap())).toBe(false);
    expect((await fixture.control.listDeployments({})).resources.map(({ name }) => name)).toEqual(['talker']);
  });

  test('a password in it is refused, and shown nowhere', async () => {
    const step = await run({ name: 'trap', 'repo-url': 'https://user:p4ssw0rd-of-git@example.com/acme/talker' });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', changed: 'false' } });
    expect(step.log).toMatch(/^::error title=Input repo-url::.*(user|password)/m);
    expect(JSON.stringify([step, fixture.service.log()])).not.toContain('p4ssw0rd');
  });
});
