import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp } from '../../../../src/services/control/builds/build-folder.ts';
import { findTool } from '../../../../src/services/control/builds/find-tool.ts';
import { workplace, type Workplace } from './building.ts';
import { commitRaw } from './loose-objects.ts';
import { packageHost } from './package-host.ts';
import { commit, plainAgent, write, writePrograms, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** As root, builds of a deployment have a user of their own; otherwise the one user does everything. */
const user = process.geteuid?.() === 0 ? { uid: 45_679, gid: 45_679 } : undefined;

const canary = 'canary-of-the-service';

/** A data folder for builds, next to a folder that only the service may enter, with files of its own. */
function place(files: Files): Workplace & { outside: string; state: () => string[] } {
  const here = workplace({ ...plainAgent, ...files }, atTheEnd);
  chmodSync(here.root, 0o711);
  const outside = join(here.root, 'outside');
  write(outside, {
    'node_modules/kept/index.js': canary,
    'releases/secret.cjs': `console.log("${canary}")`,
    'package.json': `{"packageManager":"pnpm@1"}`,
  });
  chmodSync(outside, 0o700);
  const state = (): string[] =>
    readdirSync(outside, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => {
        const { uid, mode, size, mtimeMs } = lstatSync(path);
        return [path, uid, mode, size, mtimeMs].join(' ');
      });
  return { ...here, outside, state };
}

test.each(['evil', 'deep/evil', 'evil/releases'])(
  'never copies installed packages through a symlink (%s)',
  async (path) => {
    const host = await packageHost(
      `mkdir -p "$INIT_CWD/${path}/node_modules/planted" && echo x > "$INIT_CWD/${path}/node_modules/planted/index.js"`,
      atTheEnd,
    );
    const here = place(host.files);
    commit(here.repo, { [path.replace('/releases', '')]: `-> ${here.outside}` });
    const before = here.state();
    for (const revisionId of ['r-1', 'r-2']) {
      await here.tryBuild({ request: { revisionId, user } });
      expect(here.lines.join('\n')).toContain('Installing: npm ci');
      expect(here.state()).toEqual(before);
    }
  },
);

test('aborts the fetch of a pack beyond the limit, and leaves nothing behind', async () => {
  const here = place({ 'large.bin': randomBytes(3_000_000).toString('base64') });
  const reason = await here.reason({ settings: { bounds: { fetchedBytes: 1_000_000 } } });
  expect(reason).toMatch(/ is too large: git fetches at most 1000000 bytes\. Remove from /);
  const left = readdirSync(join(here.dataDir, 'mirrors'), { recursive: true, withFileTypes: true });
  expect(left.filter(({ name }) => name.startsWith('tmp_') || name.endsWith('.pack'))).toEqual([]);
  await here.build({ request: { revisionId: 'r-2' }, settings: { bounds: { fetchedBytes: 8_000_000 } } });
});

test('git reads nothing from the home of the build, which its user may write in', async () => {
  const here = place({});
  const programs = writePrograms(join(here.root, 'bin'), {
    git: `#!/bin/sh\necho "git in $HOME, $TMPDIR" >> ${here.root}/homes\nexec ${findTool('git', process.env.PATH ?? '')} "$@"\n`,
  });
  await here.build({ request: { user }, settings: { env: { PATH: `${programs}:${process.env.PATH}` } } });
  const own = join(here.dataDir, 'builds/r-1');
  expect(new Set(readFileSync(join(here.root, 'homes'), 'utf8').trim().split('\n'))).toEqual(
    new Set([`git in ${own}, ${own}`]),
  );
});

/** A package manager that prints every file that it gets. */
const printing = '#!/bin/sh\nif [ "$1" = --version ]; then echo 1.2.3; exit 0; fi\nfind -L . -type f -exec cat {} +\n';

test.each<[string, Files]>([
  ['.yarn', { '.yarn': '-> outside' }],
  ['.yarn/releases', { '.yarn/releases': '-> outside/releases' }],
  ['a plugin', { '.yarn/plugins/x.cjs': '-> outside/releases/secret.cjs' }],
  ['a manifest', { 'package.json': '-> outside/releases/secret.cjs' }],
  ['a lock file', { 'yarn.lock': '-> outside/releases/secret.cjs' }],
  ['a workspace', { 'package.json': '{"workspaces":["a"]}', a: '-> outside/releases' }],
])('keeps files that only the service can read out of a build through %s', async (_, links) => {
  const here = place({ 'package.json': '{"name":"agent"}', 'yarn.lock': '', '.yarnrc.yml': '' });
  const absolute = Object.entries(links).map(([path, text]) => [path, text.replace('outside', here.outside)]);
  commit(here.repo, Object.fromEntries(absolute));
  const programs = writePrograms(join(here.root, 'bin'), { yarn: printing });
  await here.tryBuild({ request: { user }, settings: { env: { PATH: `${programs}:${process.env.PATH}` } } });
  expect(here.lines).toContainEqual(expect.stringMatching(/^Installing: yarn install/));
  // With only one user, a command can read the same files without the service.
  expect(here.lines.join('\n').includes(canary)).toBe(user === undefined);
});

test('builds and removes files whose names are not valid UTF-8', async () => {
  const here = place({});
  const repo = join(here.allowed, 'odd');
  const odd = Buffer.from([0x61, 0xff, 0xfe]);
  commitRaw(repo, [
    ...Object.entries(plainAgent).map(([name, content]) => ({ names: [name], mode: '100644' as const, content })),
    { names: [odd, odd], mode: '100644', content: 'x' },
  ]);
  const { folder } = await here.build({ request: { repoUrl: repo, user } });
  const [found = ''] = readdirSync(join(folder, 'source'), 'buffer').filter((name) => name.includes(0xff));
  expect(lstatSync(Buffer.concat([Buffer.from(join(folder, 'source/')), Buffer.from(found)])).uid).toBe(
    user?.uid ?? process.geteuid?.(),
  );
  const reports: string[] = [];
  await cleanUp(folder, (message) => reports.push(message));
  expect([existsSync(folder), reports]).toEqual([false, []]);
});
