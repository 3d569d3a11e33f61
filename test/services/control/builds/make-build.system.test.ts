import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildFolder, listBuilds, readBuild } from '../../../../src/services/control/builds/build-folder.ts';
import { runs, until } from '../compute/agents.ts';
import { workplace } from './building.ts';
import { graphConfig, plainAgent, write, writePrograms, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = (files: Files = plainAgent) => workplace({ ...plainAgent, ...files }, atTheEnd);

const emptyLock = JSON.stringify({
  name: 'agent',
  lockfileVersion: 3,
  requires: true,
  packages: { '': { name: 'agent' } },
});
const npmAgent: Files = { 'package.json': '{"name":"agent"}', 'package-lock.json': emptyLock };

/** A package manager that prints how it was called. */
const echoingTool = '#!/bin/sh\necho "$(basename "$0") $* in $(pwd)"\n';

test('installs packages with npm from the lock file', async () => {
  const { build, lines, dataDir } = place(npmAgent);
  await build();
  expect(lines).toContain('Installing: npm ci (package-lock.json selects npm)');
  expect(existsSync(join(dataDir, 'npm-cache'))).toBe(true);
});

test.each([
  ['pnpm', 'pnpm-lock.yaml', 'lockfileVersion: 9', 'pnpm install --frozen-lockfile'],
  ['yarn', 'yarn.lock', '# yarn lockfile v1', 'yarn install --frozen-lockfile'],
  ['yarn', 'yarn.lock', '__metadata:\n  version: 8', 'yarn install --immutable'],
  ['bun', 'bun.lock', '{}', 'bun install --frozen-lockfile'],
])('%s installs where its lock file lies (%s)', async (tool, lock, text, call) => {
  const { build, lines, root, dataDir } = place({ 'agent/langgraph.json': graphConfig, [lock]: text });
  const programs = writePrograms(join(root, 'bin'), { [tool]: echoingTool });
  const env = { PATH: `${programs}:${process.env.PATH}` };
  await build({ request: { graphConfigPath: 'agent/langgraph.json' }, settings: { env } });
  expect(lines).toContain(`${call} in ${join(dataDir, 'builds/r-1/source')}`);
});

/** An npm that packs a package whose program prints how it was called. */
const packingNpm = `#!/bin/sh
echo "npm $*" >> "$npm_config_cache/calls"
mkdir -p package/bin
printf '{"bin":{"yarn":"./bin/yarn.js","pnpm":"bin/pnpm.js"}}' > package/package.json
for name in yarn pnpm; do echo 'console.log("from the registry:", process.argv.slice(2).join(" "))' > package/bin/$name.js; done
tar -czf packed.tgz package && rm -rf package
`;

const withoutManagers = (path = ''): string[] =>
  path.split(':').filter((folder) => ['yarn', 'pnpm', 'bun'].every((manager) => !existsSync(join(folder, manager))));

test('gets the named package manager from the npm registry, once', async () => {
  const manifest = { name: 'agent', packageManager: 'yarn@1.22.19' };
  const { build, lines, root, dataDir } = place({ 'package.json': JSON.stringify(manifest), 'yarn.lock': '# v1' });
  const programs = writePrograms(join(root, 'bin'), { npm: packingNpm });
  const settings = { env: { PATH: [programs, ...withoutManagers(process.env.PATH)].join(':') } };
  const request = { buildCommand: 'yarn compile' };
  await build({ settings, request });
  await build({ settings, request: { ...request, revisionId: 'r-2' } });
  expect(lines).toContain('from the registry: install --frozen-lockfile');
  expect(lines.filter((line) => line === 'from the registry: compile')).toHaveLength(2);
  const calls = readFileSync(join(dataDir, 'npm-cache/t-1/calls'), 'utf8');
  expect(calls).toBe('npm pack yarn@1.22.19 --ignore-scripts --loglevel=error\n');
});

test.each([
  ['a version that this service knows', {}, 'yarn@1.22.22 from the npm registry is not the package that this service'],
  [
    'a named hash',
    { packageManager: 'yarn@1.22.19+sha512.abc' },
    'yarn@1.22.19 from the npm registry does not have the hash that `packageManager` in package.json names.',
  ],
])('refuses a package manager that differs from %s', async (_, named, why) => {
  const { reason, root } = place({ 'package.json': JSON.stringify({ name: 'agent', ...named }), 'yarn.lock': '# v1' });
  const programs = writePrograms(join(root, 'bin'), { npm: packingNpm });
  const env = { PATH: [programs, ...withoutManagers(process.env.PATH)].join(':') };
  expect(await reason({ settings: { env } })).toContain(why);
});

test('installs without a lock file with a warning, and again with the lock file that was made', async () => {
  const { build, lines, root } = place({ 'package.json': '{"name":"agent"}' });
  const npm = `#!/bin/sh\necho "npm $*"\n[ "$1" = install ] && echo '{"made":true}' > package-lock.json\ncat package-lock.json\n`;
  const settings = { env: { PATH: `${writePrograms(join(root, 'bin'), { npm })}:${process.env.PATH}` } };
  await build({ settings });
  expect(lines).toContain(
    'warning: package.json has no lock file beside or above it: its packages may differ in the next revision. Commit a lock file.',
  );
  lines.length = 0;
  await build({ settings });
  expect(lines).toContain('Installing: npm ci (package-lock.json of the first build selects npm)');
  expect(lines).toContain('{"made":true}');
  lines.length = 0;
  await build({ settings, request: { revisionId: 'r-2' } });
  expect(lines).toContain('npm install');
});

test('a failed build leaves no lock file that its install made, unless an earlier build did', async () => {
  const { build, reason, root, dataDir } = place({ 'package.json': '{"name":"agent"}' });
  const npm = `#!/bin/sh\n[ "$1" = install ] && echo '{}' > package-lock.json\nexit 0\n`;
  const settings = { env: { PATH: `${writePrograms(join(root, 'bin'), { npm })}:${process.env.PATH}` } };
  const kept = join(dataDir, 'locks/r-1/package-lock.json');
  const fails = { settings, request: { buildCommand: 'exit 7' } };
  expect(await reason(fails)).toContain('exit code 7');
  expect(existsSync(kept)).toBe(false);
  await build({ settings });
  expect(existsSync(kept)).toBe(true);
  expect(await reason(fails)).toContain('exit code 7');
  expect(existsSync(kept)).toBe(true);
});

test('refuses an engine that is too old before anything is installed', async () => {
  const lock = '"@langchain/langgraph@^0.2.5":\n  version "0.2.8"\n';
  const { reason, lines } = place({ 'package.json': '{"name":"agent"}', 'yarn.lock': lock });
  expect(await reason()).toBe(
    'yarn.lock: @langchain/langgraph is 0.2.8, and agents need 0.2.57 or later. Update it in package.json and commit the new lock file.',
  );
  expect(lines.filter((line) => line.startsWith('Installing'))).toEqual([]);
});

test('does not read a file of a package manager that links to a device', async () => {
  const { build, lines, root } = place({ 'package.json': '-> /dev/zero', 'yarn.lock': '-> /dev/zero' });
  const programs = writePrograms(join(root, 'bin'), { yarn: echoingTool });
  await build({ settings: { env: { PATH: `${programs}:${process.env.PATH}` } } });
  expect(lines).toContain('Installing: yarn install --frozen-lockfile (yarn.lock selects yarn)');
});

test('runs the install command in the root of the repository', async () => {
  const { build, lines, dataDir } = place({
    'agent/langgraph.json': graphConfig,
    'where.sh': 'pwd; printf "%s\\n" "$CI"\n',
  });
  await build({ request: { graphConfigPath: 'agent/langgraph.json', installCommand: 'sh where.sh && echo done' } });
  expect(lines.slice(2)).toEqual([
    'Installing: sh where.sh && echo done',
    join(dataDir, 'builds/r-1/source'),
    '1',
    'done',
  ]);
});

test('runs the build command in the folder of the graph configuration', async () => {
  const { build, lines, dataDir } = place({ 'agent/langgraph.json': graphConfig });
  await build({ request: { graphConfigPath: 'agent/langgraph.json', buildCommand: 'pwd' } });
  expect(lines.slice(-2)).toEqual(['Building: pwd', join(dataDir, 'builds/r-1/source/agent')]);
});

test.each([
  ['the install', 'an npm that leaves much behind', {}],
  ['the build command', 'an npm that installs', { buildCommand: 'exit 7' }],
])('reports a failure of %s before it removes what is left', async (_, npm, request) => {
  const { reason, root, dataDir } = place(npmAgent);
  const script = npm.endsWith('behind') ? 'mkdir -p node_modules/half && exit 7' : 'mkdir node_modules';
  const npmInPath = writePrograms(join(root, 'bin'), {
    npm: `#!/bin/sh\n[ "$1" = --version ] && echo 11.0.0 && exit\n${script}\n`,
  });
  const seen: unknown[] = [];
  const folder = buildFolder(dataDir, 'r-1');
  const onFailure = async (why: string): Promise<void> => {
    const staged = existsSync(join(folder.staging, 'node_modules/half'));
    seen.push([why, existsSync(folder.source), staged === npm.endsWith('behind')]);
  };
  const settings = { env: { PATH: `${npmInPath}:${process.env.PATH}` } };
  const why = await reason({ settings, request: { ...request, onFailure } });
  expect(why).toContain('exit code 7');
  expect(seen).toEqual([[why, true, true]]);
  expect(existsSync(folder.root)).toBe(false);
});

test('does not run a command that is invalid', async () => {
  const { reason } = place();
  expect(await reason({ request: { buildCommand: 'echo a; echo b' } })).toContain(
    'source_config.build_command must not contain',
  );
});

test.each([
  ['install_command', { installCommand: 'sh fail.sh' }],
  ['build_command', { buildCommand: 'sh fail.sh' }],
])('a failing %s ends the build with its last lines and cleans up', async (name, request) => {
  const { reason, dataDir } = place({ 'fail.sh': 'echo "Error: no such package" >&2; exit 3\n' });
  expect(await reason({ request })).toBe(`source_config.${name} failed: exit code 3. It said: Error: no such package`);
  expect(existsSync(join(dataDir, 'builds/r-1'))).toBe(false);
});

test("gives a build a home and the registry, but not the service's environment", async () => {
  const { build, lines, root, dataDir } = place({ 'env.sh': 'env | sort\n' });
  write(root, { 'person/.npmrc': 'registry=https://registry.example/\n' });
  const env = {
    PATH: process.env.PATH,
    HOME: join(root, 'person'),
    DATABASE_URL: 'postgres://the-service',
    LANDFALL_API_KEY: 'the-key',
    npm_config_registry: 'https://registry.example/',
    npm_config_prefix: '/somewhere',
    HTTPS_PROXY: 'http://user:pr0xy-password@proxy.example:1',
  };
  await build({ request: { installCommand: 'sh env.sh' }, settings: { env } });
  const seen = lines.slice(3).map((line) => line.split('=')[0]);
  expect(seen.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'LC_CTYPE'].includes(name ?? ''))).toEqual([
    'CI',
    'HOME',
    'HTTPS_PROXY',
    'LANDFALL_BUILD',
    'NO_COLOR',
    'PATH',
    'PIP_CACHE_DIR',
    'PIP_DISABLE_PIP_VERSION_CHECK',
    'PIP_NO_INPUT',
    'PIP_PROGRESS_BAR',
    'PIP_RETRIES',
    'PYTHONUNBUFFERED',
    'TMPDIR',
    'UV_CACHE_DIR',
    'UV_LINK_MODE',
    'UV_NO_PROGRESS',
    'UV_PYTHON_DOWNLOADS',
    'npm_config_audit',
    'npm_config_cache',
    'npm_config_fund',
    'npm_config_registry',
    'npm_config_update_notifier',
    'npm_config_userconfig',
  ]);
  expect(lines).toContain(`HOME=${join(dataDir, 'builds/r-1/home')}`);
  expect(lines).toContain(`npm_config_userconfig=${join(root, 'person/.npmrc')}`);
  expect(lines).toContain('HTTPS_PROXY=http://user:***@proxy.example:1');
  expect(lines.find((line) => line.startsWith('PATH='))).toContain(process.execPath.replace(/\/node$/, ':'));
});

test("masks a deployment's secrets that the repository prints", async () => {
  const { tryBuild, lines } = place({ 'fail.sh': 'echo "Error: my key is canary-0001"; exit 1\n' });
  const end = await tryBuild({
    request: { buildCommand: 'sh fail.sh', secrets: [{ name: 'KEY', value: 'canary-0001' }] },
  });
  expect(JSON.stringify([end, lines])).not.toContain('canary-0001');
  expect(end).toMatchObject({ kind: 'failed', reason: expect.stringContaining('my key is ***') });
});

test.each([
  ['missing', {}, 'deep/langgraph.json', 'The repository has no file deep/langgraph.json'],
  ['a folder', { 'deep/x': '' }, 'deep', 'deep is not a file'],
  [
    'a symlink out of the repository',
    { 'out.json': '-> /etc/passwd' },
    'out.json',
    'out.json leads out of the repository',
  ],
  ['below a symlink out', { out: '-> /etc' }, 'out/passwd', 'out/passwd leads out of the repository'],
  ['a symlink to itself', { 'loop.json': '-> loop.json' }, 'loop.json', 'The repository has no file loop.json'],
])('rejects a graph configuration that is %s', async (_, files, graphConfigPath, why) => {
  const { reason, lines } = place(files);
  expect(await reason({ request: { graphConfigPath } })).toContain(why);
  expect(lines.join('\n')).not.toContain('root:');
});

test('accepts a graph configuration that is a symlink inside the repository', async () => {
  const { build, dataDir } = place({ 'real/langgraph.json': graphConfig, 'link.json': '-> real/langgraph.json' });
  const { graphConfigFile } = await build({ request: { graphConfigPath: 'link.json' } });
  expect(graphConfigFile).toBe(join(dataDir, 'builds/r-1/source/real/langgraph.json'));
});

test('reports the line of a broken graph configuration before the install', async () => {
  const { reason, lines } = place({ ...npmAgent, 'langgraph.json': '{\n  "graphs": { "echo": "./graph.js" }\n}\n' });
  expect(await reason()).toMatch(/^The graph configuration is invalid: langgraph\.json:2:\d+: /);
  expect(lines.at(-1)).toMatch(/^error: langgraph\.json:2:/);
  expect(lines.join('\n')).not.toContain('Installing');
});

test('reports the most specific of several mistakes in a graph configuration', async () => {
  const { reason, lines } = place({ ...npmAgent, 'langgraph.json': '{ "graph": { "echo": "./graph.js:graph" } }' });
  expect(await reason()).toMatch(
    /^The graph configuration is invalid: langgraph\.json:1:3: .*; did you mean `graphs`\? \(and 1 more in the build log\)\.$/,
  );
  expect(lines.join('\n')).toContain('error: langgraph.json:1:1: `graphs` is missing');
});

test('rejects a graph of no language, and says what runs', async () => {
  const { reason } = place({ 'langgraph.json': JSON.stringify({ graphs: { agent: './agent:graph' } }) });
  expect(await reason()).toMatch(/^Graph "agent" lies in \.\/agent, whose ending says no language\. This machine runs/);
});

test('stops a build that takes too long, and all of its processes', async () => {
  const { reason, root, dataDir } = place();
  const pidFile = join(root, 'pid');
  write(root, { 'hang.sh': `sleep 600 & echo $! > ${pidFile}\nwait\n` });
  const bounds = { cloneMs: 60_000, installMs: 60_000, buildMs: 2_000 };
  const output = await reason({ request: { buildCommand: `sh ${root}/hang.sh` }, settings: { bounds } });
  expect(output).toBe('source_config.build_command failed: it took longer than 2 s and was stopped.');
  await until(() => !runs(Number(readFileSync(pidFile, 'utf8'))));
  expect(existsSync(join(dataDir, 'builds/r-1'))).toBe(false);
});

test('stops an interrupted build at once and leaves nothing behind', async () => {
  const { tryBuild, root, dataDir } = place();
  write(root, { 'hang.sh': `echo $$ > ${root}/pid\nexec sleep 600\n` });
  const stopping = new AbortController();
  const end = tryBuild({ request: { installCommand: `sh ${root}/hang.sh` }, signal: stopping.signal });
  await until(() => existsSync(join(root, 'pid')));
  stopping.abort();
  expect(await end).toEqual({ kind: 'interrupted' });
  expect(existsSync(join(dataDir, 'builds/r-1'))).toBe(false);
});

test('lists the builds in the folder, complete or not', async () => {
  const { build, dataDir } = place();
  expect(listBuilds(dataDir)).toEqual([]);
  await build();
  write(join(dataDir, 'builds'), { 'r-3/source/half': 'done' });
  expect(listBuilds(dataDir).toSorted()).toEqual(['r-1', 'r-3']);
  expect(readBuild(buildFolder(dataDir, 'r-3').root)).toBeUndefined();
});
