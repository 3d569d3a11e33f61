import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildFolder, environmentsNeeded, readBuild } from '../../../../../src/services/control/builds/build-folder.ts';
import { workplace, type Requested, type Workplace } from '../building.ts';
import { commit, type Files } from '../repositories.ts';
import { describePython } from '../../../../python/needs-python.ts';
import { packageIndex } from './package-index.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const agent: Files = {
  'langgraph.json': JSON.stringify({ dependencies: ['.'], graphs: { agent: './src/my_agent/__init__.py:graph' } }),
  'pyproject.toml':
    '[project]\nname = "my-agent"\n# requires: langgraph\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n',
  'src/my_agent/__init__.py': 'import langgraph.graph\ngraph = "first"\ndef main(): print(graph)\n',
};

interface Place extends Workplace {
  env: NodeJS.ProcessEnv;
  installs: () => number;
  /** What a Python program prints in the environment of a build. */
  python: (revisionId: string, program: string) => string;
  make: (revisionId: string, request?: Requested['request']) => Promise<unknown>;
  fails: (request?: Requested['request']) => Promise<string>;
}

function place(files: Files = agent): Place {
  const here = workplace(files, atTheEnd);
  const env = { ...packageIndex(here.root), PATH: process.env.PATH };
  const inFolder = (revisionId: string) => buildFolder(here.dataDir, revisionId);
  return {
    ...here,
    env,
    installs: () => here.lines.filter((line) => line.startsWith('Installing: pip install')).length,
    python: (revisionId, program) =>
      execFileSync(join(inFolder(revisionId).python, 'bin/python'), ['-I', '-c', program], { encoding: 'utf8' }).trim(),
    make: (revisionId, request = {}) => here.build({ request: { revisionId, ...request }, settings: { env } }),
    fails: (request = {}) => here.reason({ request, settings: { env } }),
  };
}

const whereTheAgentIs = 'import my_agent; print(my_agent.__file__, my_agent.graph)';

describePython('builds of agents in Python', () => {
  test('installs a project, and reuses its packages for other code', async () => {
    const here = place();
    const first = await here.make('r-1');
    expect(first).toMatchObject({ python: { shared: expect.stringMatching(/^t-1\/[0-9a-f]{64}$/) } });
    const { root: folder, source } = buildFolder(here.dataDir, 'r-1');
    expect(readBuild(folder)).toEqual(expect.objectContaining({ python: Object(first).python }));
    expect(here.python('r-1', whereTheAgentIs)).toBe(`${source}/src/my_agent/__init__.py first`);
    expect(
      here.python('r-1', 'import helper, importlib.metadata as m; print(helper.value, m.version("my_agent"))'),
    ).toBe('2 0.1');
    expect(readFileSync(join(here.dataDir, 'locks/r-1/python-packages.txt'), 'utf8')).toContain('langgraph==1.0.1\n');

    commit(here.repo, { 'src/my_agent/__init__.py': 'graph = "second"\ndef main(): print(graph)\n' });
    await here.make('r-2');
    expect(here.installs()).toBe(1);
    expect(here.lines).toContain('An earlier build installed these packages: reusing them.');
    const second = buildFolder(here.dataDir, 'r-2');
    expect(here.python('r-2', whereTheAgentIs)).toBe(`${second.source}/src/my_agent/__init__.py second`);
    expect(execFileSync(join(second.python, 'bin/agent-tool'), { encoding: 'utf8' })).toBe('second\n');
    expect(here.python('r-1', whereTheAgentIs)).toContain(' first');
  });

  test('installs other packages, and those of another tenant, into other environments', async () => {
    const here = place();
    await here.make('r-1');
    await here.make('r-2', { tenantId: 't-2' });
    commit(here.repo, { 'pyproject.toml': `${agent['pyproject.toml']}# another line\n` });
    await here.make('r-3');
    expect(here.installs()).toBe(3);
    expect([...environmentsNeeded(here.dataDir)].map((name) => name.split('/')[0] ?? '').toSorted()).toEqual([
      't-1',
      't-1',
      't-2',
    ]);
  });

  test('closes the packages that builds share, and counts a build without them as none', async () => {
    const here = place();
    await here.make('r-1');
    const [name = ''] = environmentsNeeded(here.dataDir);
    const shared = join(here.dataDir, 'python', name);
    const engine = here.python('r-1', 'import langgraph.graph as g; print(g.__file__)');
    expect(engine).toContain(shared);
    expect(statSync(engine).mode & 0o222).toBe(0);
    rmSync(join(shared, 'entry.json'));
    expect(readBuild(buildFolder(here.dataDir, 'r-1').root)).toBeUndefined();
  });

  test("installs as the deployment's user, who alone may read the packages", async () => {
    const here = place();
    chmodSync(here.root, 0o711);
    // As root, builds of a deployment have a user of their own; otherwise the one user does everything.
    const number = randomInt(1_700_000_000, 1_800_000_000);
    const user = process.geteuid?.() === 0 ? { uid: number, gid: number } : undefined;
    await here.make('r-1', { user });
    commit(here.repo, { 'src/my_agent/__init__.py': 'graph = "second"\n' });
    await here.make('r-2', { user });
    expect(here.installs()).toBe(1);
    expect(here.python('r-2', whereTheAgentIs)).toContain(' second');
    const [name = ''] = environmentsNeeded(here.dataDir);
    const shared = join(here.dataDir, 'python', name);
    const owner = user?.uid ?? process.geteuid?.();
    const { python } = buildFolder(here.dataDir, 'r-2');
    expect([join(shared, 'files'), join(shared, 'files/env/bin'), python].map((path) => statSync(path).uid)).toEqual([
      owner,
      owner,
      owner,
    ]);
    expect(statSync(join(shared, 'files')).mode & 0o777).toBe(0o700);
    expect(statSync(join(shared, 'entry.json')).uid).toBe(process.geteuid?.());
  });

  test('makes a build again with the versions that it had', async () => {
    const here = place();
    await here.make('r-1');
    packageIndex(here.root, [['helper', '3.0', { 'helper.py': 'value = 3\n' }, []]]);
    rmSync(join(here.dataDir, 'python'), { recursive: true });
    await here.make('r-1');
    expect(here.python('r-1', 'import helper; print(helper.value)')).toBe('2');
    commit(here.repo, { 'pyproject.toml': `${agent['pyproject.toml']}# another line\n` });
    await here.make('r-2');
    expect(here.python('r-2', 'import helper; print(helper.value)')).toBe('3');
  });

  test('finds the modules of a folder with requirements alone, and installs those', async () => {
    const here = place({
      'langgraph.json': JSON.stringify({ dependencies: ['./libs/tools'], graphs: { agent: 'tools.agent:graph' } }),
      'libs/tools/requirements.txt': 'langgraph==1.0.1\n',
      'libs/tools/__init__.py': '',
      'libs/tools/agent.py': 'graph = 1\n',
    });
    await here.make('r-1');
    expect(here.python('r-1', 'import tools.agent as a; print(a.graph)')).toBe('1');
    expect(here.lines.filter((line) => line.startsWith('warning'))).toEqual([]);
  });

  test.each([
    ['shared', ''],
    ['of one build', '[tool.hatch.build.targets.wheel.hooks.custom]\n'],
  ])('adds the engine to packages that lack it and are not locked (%s)', async (_, more) => {
    const project = agent['pyproject.toml']?.replace('# requires: langgraph', '') ?? '';
    const here = place({ ...agent, 'pyproject.toml': `${project}${more}` });
    await here.make('r-1');
    expect(here.python('r-1', 'import langgraph.graph as g, my_agent; print(g.made)')).toBe('an engine');
    expect(here.lines).toContainEqual(expect.stringMatching(/^warning.*langgraph is not among .* is added to them/));
  });

  test('runs an install command with an environment of its own', async () => {
    const here = place({ ...agent, 'check.py': 'import helper\n' });
    const made = await here.make('r-1', { installCommand: 'pip install langgraph', buildCommand: 'python check.py' });
    expect(made).toMatchObject({ python: { shared: undefined } });
    expect(here.python('r-1', 'import langgraph.graph as g; print(g.__file__)')).toContain(
      buildFolder(here.dataDir, 'r-1').python,
    );
    expect(existsSync(join(here.dataDir, 'python'))).toBe(false);
  });

  test.each<[string, Files, Requested['request'], RegExp]>([
    [
      'an engine that is too old',
      { 'requirements.txt': 'langgraph==0.5.4\n' },
      {},
      /^langgraph is 0\.5\.4, and agents need 0\.6 or later\. Require langgraph>=0\.6 in pyproject\.toml/,
    ],
    ['locked packages without an engine', { 'requirements.txt': 'helper==2\n' }, {}, /^langgraph is not among the/],
    [
      'an install command without the engine',
      { 'requirements.txt': 'helper\n' },
      { installCommand: 'true' },
      /^langgraph is not/,
    ],
    [
      'a package that is not there',
      { 'requirements.txt': 'langgraph\nlost==1\n' },
      {},
      /^pip install -r requirements\.txt failed: exit code 1\. It said: No matching distribution found for lost==1/,
    ],
  ])('fails for %s', async (_, files, request, reason) => {
    const config = JSON.stringify({ dependencies: ['.'], graphs: { agent: './agent.py:graph' } });
    const here = place({ 'langgraph.json': config, 'agent.py': '', ...files });
    expect(await here.fails(request)).toMatch(reason);
    expect(existsSync(join(here.dataDir, 'builds/r-1'))).toBe(false);
    const environments = join(here.dataDir, 'python/t-1');
    const left = existsSync(environments) ? readdirSync(environments) : [];
    expect(left.filter((each) => !existsSync(join(environments, each, 'entry.json')))).toEqual([]);
  });
});

test('fails for a machine without Python, with what to install', async () => {
  const here = workplace(agent, atTheEnd);
  // The shell and git alone.
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = join(here.root, 'bin');
  execFileSync('sh', [
    '-c',
    'mkdir -p "$1" && ln -s "$2" "$1/git" && ln -s "$(command -v sh)" "$1/sh"',
    'sh',
    folder,
    git,
  ]);
  const reason = await here.reason({ settings: { env: { PATH: folder } } });
  expect(reason).toMatch(
    /this machine has no Python 3\.10 or newer that builds can run\. Install Python 3\.11 with its module venv for all users\.$/,
  );
});

test('refuses what only an image can hold, with its place', async () => {
  const config = '{\n "graphs": { "agent": "./agent.py:graph" },\n "dockerfile_lines": ["RUN apt-get install x"]\n}';
  const here = workplace({ 'langgraph.json': config }, atTheEnd);
  expect(await here.reason()).toMatch(
    /^The graph configuration is invalid: langgraph\.json:3:23: `dockerfile_lines\[0\]` needs an image, .* or deploy an image\.$/,
  );
});
