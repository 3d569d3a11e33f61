import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { judgedByGitHub } from '../../action/judged-by-github.ts';
import { publishedAction } from '../../../src/cli/init/this-package.ts';
import { folderOf, root, runHere } from '../run-cli.ts';

const deployPath = '.github/landfall.yml';
const workflowPath = '.github/workflows/landfall.yml';
const actionPath = '.github/actions/landfall';
const graphConfig = '{ "graphs": { "support": "./graph.ts:graph" } }\n';
const agent = {
  'langgraph.json': graphConfig,
  'graph.ts': 'new StateGraph(MessagesAnnotation)',
  'package-lock.json':
    '{ "lockfileVersion": 3, "packages": { "node_modules/@langchain/langgraph": { "version": "1.4.18" } } }',
};

/** The files of an agent below a folder. */
const below = (folder: string, files: Readonly<Record<string, string>> = agent) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

let folder = folderOf({});
beforeEach(() => folder.remove());
afterEach(() => folder.remove());

async function init(files: Readonly<Record<string, string>>, ...args: string[]) {
  folder = folderOf(files);
  return runHere(['init', ...args], { cwd: folder.path });
}
const read = (path: string): string => readFileSync(join(folder.path, path), 'utf8');
const writtenDeployment = (name: string): unknown => parse(read(deployPath)).deployments[name];

const tested = z.object({ assistant: z.string(), input: z.record(z.string(), z.unknown()) });
const deployFile = z.object({ deployments: z.record(z.string(), z.object({ 'smoke-tests': z.array(tested) })) });
const firstTest = (text: string) => Object.values(deployFile.parse(parse(text)).deployments)[0]?.['smoke-tests'][0];

describe.each(readdirSync(join(root, 'examples')))('landfall init for %s', (example) => {
  test('writes files that landfall validate and GitHub accept', async () => {
    folder = folderOf({});
    cpSync(join(root, 'examples', example), join(folder.path, example), { recursive: true });
    rmSync(join(folder.path, example, '.github'), { recursive: true });
    const end = await runHere(['init'], { cwd: folder.path });
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toContain(`wrote ${deployPath}\nwrote ${workflowPath}\n`);
    expect(end.out).toContain(`${deployPath}: fine\n`);
    expect(end.out).toContain(`node ${root}/bin/landfall.cjs deploy\n`);
    expect(end.out + read(deployPath)).not.toContain('npx landfall');
    expect(await judgedByGitHub('workflow', read(workflowPath))).toEqual([]);
    expect(await runHere(['validate'], { cwd: folder.path })).toMatchObject({ code: 0, err: '' });
    const [written, own] = [read(deployPath), readFileSync(join(root, 'examples', example, deployPath), 'utf8')].map(
      firstTest,
    );
    expect(written?.assistant).toBe(own?.assistant);
    expect(Object.keys(own?.input ?? {})).toEqual(expect.arrayContaining(Object.keys(written?.input ?? {})));
  });
});

describe('landfall init', () => {
  test('takes the secrets of the env file, without their values', async () => {
    const env = 'OPENAI_API_KEY=sk-12345\n# UNUSED=1\nLANGSMITH_API_KEY=ls-1\nexport DB_URL=x\n';
    const config = '{ "graphs": { "support": "./graph.ts:graph" }, "env": ".env" }';
    const end = await init({ ...agent, 'langgraph.json': config, '.env': env });
    expect(end.out + read(deployPath) + read(workflowPath)).not.toContain('sk-12345');
    expect(read(deployPath)).toContain('    secrets: [OPENAI_API_KEY, DB_URL]\n');
    expect(parse(read(workflowPath)).jobs.deploy.steps[1].env).toEqual({
      OPENAI_API_KEY: '${{ secrets.OPENAI_API_KEY }}',
      DB_URL: '${{ secrets.DB_URL }}',
    });
    expect(await judgedByGitHub('workflow', read(workflowPath))).toEqual([]);
    expect(end.out).toContain('Add the secrets of the agent too: OPENAI_API_KEY, DB_URL.');
  });

  test('asks which of several agents it is for', async () => {
    const files = { ...below('one'), ...below('two') };
    const end = await init(files);
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toBe('langgraph.json: there are several agents here. Choose one with --agent one or --agent two\n');
    folder.remove();
    expect(await init(files, '--agent', 'two/', '--name', 'support-desk')).toMatchObject({ code: 0, err: '' });
    expect(writtenDeployment('support-desk')).toMatchObject({
      'source-dir': 'two',
      'graph-config-path': 'langgraph.json',
    });
  });

  test('uploads the folder of the lock file in a workspace of packages', async () => {
    const { 'package-lock.json': lock, ...member } = agent;
    expect(await init({ ...below('apps/support', member), 'package-lock.json': lock })).toMatchObject({ code: 0 });
    expect(writtenDeployment('support')).toMatchObject({
      'source-dir': '.',
      'graph-config-path': 'apps/support/langgraph.json',
    });
  });

  test('says what to write where there is no agent', async () => {
    const end = await init({ 'node_modules/x/langgraph.json': graphConfig });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toContain('there is no langgraph.json here or in a folder below. Write one');
  });

  test('reports the problems of the graph configuration with their places', async () => {
    const end = await init({ 'langgraph.json': '{ "graph": {} }\n' });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toContain('langgraph.json:1:3: `graph` is not known; did you mean `graphs`?');
    expect(existsSync(join(folder.path, deployPath))).toBe(false);
  });

  test.each([
    [['--name', 'Support'], '--name: the name may hold lower-case letters, digits and hyphens only\n'],
    [['--agent', '../other'], '--agent: the agent must be in this folder\n'],
    [['--agent', 'other'], 'other/langgraph.json: this graph configuration file does not exist\n'],
  ])('refuses %j, and writes nothing', async (args, err) => {
    expect(await init(agent, ...args)).toEqual({ code: 2, out: '', err });
    expect(existsSync(join(folder.path, '.github'))).toBe(false);
  });

  test('overwrites nothing, and lists what exists', async () => {
    const mine = 'deployments:\n  mine:\n    source-dir: .\n    graph-config-path: langgraph.json\n';
    const end = await init({ ...agent, [deployPath]: mine });
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toContain(`exists and stays as it is: ${deployPath}\nwrote ${workflowPath}\n`);
    expect(read(deployPath)).toBe(mine);
    const again = await runHere(['init'], { cwd: folder.path });
    expect(again.out).not.toContain('wrote');
    expect(again.code).toBe(0);
  });

  test('leaves a link to nothing as it is', async () => {
    folder = folderOf(agent);
    mkdirSync(join(folder.path, '.github'));
    symlinkSync('nowhere.yml', join(folder.path, deployPath));
    const end = await runHere(['init'], { cwd: folder.path });
    expect(end.code).toBe(2);
    expect(end.out).toContain(`exists and stays as it is: ${deployPath}\nwrote ${workflowPath}\n`);
    expect(end.err).toContain(`${deployPath}: `);
  });

  test('says what was written and what could not be', async () => {
    const end = await init({ ...agent, '.github/workflows': '' });
    expect(end).toMatchObject({ code: 1 });
    expect(end.out).toMatch(new RegExp(`^Found .*\nwrote ${deployPath}\n$`));
    expect(end.err).toBe(
      `refused: ${workflowPath} cannot be written (EEXIST).\n` +
        'What to do: Make .github/workflows a folder that you may write to, and run landfall init again. It keeps what exists.\n',
    );
  });

  test('takes a folder in the place of the env file for none', async () => {
    const config = '{ "graphs": { "support": "./graph.ts:graph" }, "env": "." }';
    expect(await init({ ...agent, 'langgraph.json': config, '.env.example': 'A_KEY=' })).toMatchObject({ code: 0 });
    expect(read(deployPath)).toContain('    secrets: [A_KEY]\n');
  });

  test('prints the files with --dry-run, and writes none', async () => {
    const end = await init(agent, '--dry-run');
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toContain(`\n--- ${deployPath}\n`);
    expect(end.out).toContain('    on-failure: rollback\n');
    expect(end.out).toContain(`would write ${workflowPath}\n`);
    expect(existsSync(join(folder.path, '.github'))).toBe(false);
  });

  test('prints one line of JSON with --json', async () => {
    const end = await init(agent, '--json');
    expect(JSON.parse(end.out)).toMatchObject({
      fine: true,
      written: expect.arrayContaining([deployPath]),
      existing: [],
    });
  });

  test('shows how to build from git, of the branch that is the default there', async () => {
    folder = folderOf(agent);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.path });
    git('init', '--quiet', '--initial-branch', 'trunk');
    git('remote', 'add', 'origin', 'git@github.com:acme/agents.git');
    expect(await runHere(['init'], { cwd: folder.path })).toMatchObject({ code: 0, err: '' });
    expect(read(deployPath)).toContain('    #   repo-url: "https://github.com/acme/agents"\n    #   repo-ref: trunk\n');
    expect(parse(read(workflowPath)).on.push.branches).toEqual(['trunk']);
    rmSync(join(folder.path, '.github'), { recursive: true });
    const inside = join(folder.path, 'inside');
    mkdirSync(inside);
    for (const [name, text] of Object.entries(agent)) writeFileSync(join(inside, name), text);
    const end = await runHere(['init'], { cwd: inside });
    expect(end.err).toContain('GitHub reads workflows at the top of a repository only.');
  });

  test('copies the Action where asked, and the copy runs', async () => {
    await init(agent, '--copy-action');
    expect(parse(read(workflowPath)).jobs.deploy.steps[1].uses).toBe(`./${actionPath}`);
    expect(readdirSync(join(folder.path, actionPath, 'dist'))).toEqual(readdirSync(join(root, 'dist')));
    writeFileSync(join(folder.path, 'package.json'), '{ "type": "commonjs" }');
    const run = () =>
      execFileSync(process.execPath, [join(folder.path, actionPath, 'dist/index.js')], {
        encoding: 'utf8',
        env: {},
        cwd: folder.path,
      });
    expect(run).toThrow(expect.objectContaining({ stdout: expect.stringContaining('::error') }));
  });
});

test('the Action is named by the repository and the major version of package.json', () => {
  const manifest = (owner: string) =>
    JSON.stringify({ version: '1.4.0', repository: { url: `git+https://github.com/${owner}/landfall.git` } });
  expect(publishedAction(manifest('acme'))).toBe('acme/landfall@v1');
  expect(publishedAction(manifest('OWNER'))).toBeUndefined();
  expect(publishedAction('{}')).toBeUndefined();
});
