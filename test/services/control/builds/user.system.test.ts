import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp } from '../../../../src/services/control/builds/build-folder.ts';
import { workplace } from './building.ts';
import { plainAgent, writePrograms } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** As root, builds of a deployment have a user of their own; otherwise the one user does everything. */
const isRoot = process.geteuid?.() === 0;
const number = randomInt(1_700_000_000, 1_800_000_000);
const user = isRoot ? { uid: number, gid: number } : undefined;
const uid = user?.uid ?? process.geteuid?.();

function place() {
  const here = workplace(
    { ...plainAgent, 'package.json': '{"name":"agent"}', 'pnpm-lock.yaml': '', 'who.sh': 'id -u\ntouch made\n' },
    atTheEnd,
  );
  chmodSync(here.root, 0o711);
  const tool = `#!/bin/sh
if [ "$1" = --version ]; then echo 1.2.3; exit 0; fi
echo "installs as $(id -u)"
mkdir -p node_modules/dep && echo x > node_modules/dep/index.js && ln -s ../dep node_modules/dep/self
ln -s /etc node_modules/dep/out; mkfifo node_modules/dep/pipe
`;
  const programs = writePrograms(join(here.root, 'bin'), { pnpm: tool });
  const env = { PATH: `${programs}:${process.env.PATH}` };
  const build = (revisionId: string, changes = {}) =>
    here.build({ request: { revisionId, user, buildCommand: 'sh who.sh', ...changes }, settings: { env } });
  return { ...here, build };
}

const ownerOf = (path: string): number => statSync(path).uid;

test("every command runs as the deployment's user, who owns the folders of the build", async () => {
  const { build, lines } = place();
  const { folder } = await build('r-1');
  expect(lines.filter((line) => /^(installs as )?\d+$/.test(line))).toEqual([`installs as ${uid}`, String(uid)]);
  const owned = ['source', 'source/graph.js', 'source/made', 'source/node_modules/dep/index.js', 'home'];
  expect(owned.map((path) => ownerOf(join(folder, path)))).toEqual(owned.map(() => uid));
  expect(statSync(join(folder, 'source')).mode & 0o777).toBe(0o700);
});

test('the service owns the record, the mirror and the store', async () => {
  const { build, dataDir } = place();
  const { folder } = await build('r-1');
  const [entry = ''] = readdirSync(join(dataDir, 'store/t-1'));
  const paths = [folder, join(folder, 'build.json'), join(dataDir, 'mirrors/t-1'), join(dataDir, 'store/t-1', entry)];
  expect(paths.map(ownerOf)).toEqual(paths.map(() => process.geteuid?.()));
  expect(ownerOf(join(dataDir, 'store/t-1', entry, 'node_modules/dep/index.js'))).toBe(process.geteuid?.());
});

test('a second build takes only files, folders and symlinks from the store', async () => {
  const { build, lines } = place();
  await build('r-1');
  const { folder } = await build('r-2');
  expect(lines.filter((line) => line.startsWith('installs as'))).toHaveLength(1);
  const packages = join(folder, 'source/node_modules');
  expect(readFileSync(join(packages, 'dep/index.js'), 'utf8')).toBe('x\n');
  expect(readdirSync(join(packages, 'dep')).toSorted()).toEqual(expect.arrayContaining(['index.js', 'self']));
  expect(readdirSync(join(packages, 'dep'))).not.toContain('pipe');
});

test('an install in the checkout runs as the same user', async () => {
  const { build, lines } = place();
  await build('r-1', { installCommand: 'sh who.sh' });
  expect(lines.filter((line) => /^\d+$/.test(line))).toEqual([String(uid), String(uid)]);
});

test.each(isRoot ? ['a service that is root'] : [])(
  'fails the build of %s when its user never delivers the packages',
  async () => {
    const { root, reason } = place();
    writePrograms(join(root, 'bin'), { tar: '#!/bin/sh\nkill -s STOP $$\n' });
    const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}` };
    const settings = { env, bounds: { installMs: 4_000 } };
    expect(await reason({ request: { user }, settings })).toContain('The installed packages could not be read');
  },
);

test('removes a build completely, and a failed build leaves nothing behind', async () => {
  const { build, reason, dataDir } = place();
  const { folder } = await build('r-1');
  const output: string[] = [];
  await cleanUp(folder, (message) => output.push(message));
  expect([existsSync(folder), output]).toEqual([false, []]);
  await reason({ request: { revisionId: 'r-2', user, installCommand: 'sh who.sh && false' } });
  expect(readdirSync(join(dataDir, 'builds'))).toEqual([]);
});
