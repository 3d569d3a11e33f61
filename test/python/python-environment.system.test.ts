import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPythonEnvironment } from '../../scripts/python-environment.ts';
import { describePython } from './needs-python.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'python-environment-'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** A program that says this of itself. */
async function writeInterpreter(name: string, facts: object): Promise<void> {
  const path = join(folder, name);
  await writeFile(
    path,
    `#!/bin/sh\necho '${JSON.stringify({ path, isNew: true, makesEnvironments: true, ...facts })}'\n`,
  );
  await chmod(path, 0o755);
}

test.each([
  ['no Python', {}, 'Python 3.10 or later is not on the PATH'],
  [
    'an old one alone',
    { python3: { version: '3.9.2', isNew: false } },
    'Python 3.10 or later is not on the PATH, only Python 3.9.2',
  ],
  [
    'an old one, and one that lacks a part',
    { python: { version: '3.9.2', isNew: false }, 'python3.12': { version: '3.12.1', makesEnvironments: false } },
    'python3.12 lacks "ensurepip", which Debian and Ubuntu have in the package python3-venv',
  ],
])('says what is missing where there is %s', async (_, interpreters, reason) => {
  for (const [name, facts] of Object.entries(interpreters)) await writeInterpreter(name, facts);
  vi.stubEnv('PATH', folder);
  expect(await openPythonEnvironment({ environments: folder })).toEqual({ missing: expect.stringContaining(reason) });
});

test('takes the first interpreter that is new enough, and says why it makes nothing', async () => {
  await writeInterpreter('python3', { version: '3.9.2', isNew: false });
  await writeInterpreter('python3.11', { version: '3.11.7', path: '/dev/null' });
  vi.stubEnv('PATH', folder);
  const { missing } = Object.assign(
    { missing: '' },
    await openPythonEnvironment({ environments: join(folder, 'made') }),
  );
  expect(missing).toContain('/dev/null EACCES');
  expect(await readdir(join(folder, 'made'))).toEqual([]);
});

describePython('without a package index', () => {
  test('says so, and leaves nothing', async () => {
    vi.stubEnv('PIP_INDEX_URL', 'http://127.0.0.1:9/');
    vi.stubEnv('PIP_NO_INDEX', '');
    const made = join(folder, 'made');
    expect(await openPythonEnvironment({ environments: made })).toEqual({
      missing: expect.stringMatching(/^pip gets no package from/),
    });
    expect(await readdir(made)).toEqual([]);
  });
});
