import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { endWithTest } from '../child-process.ts';

const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');

test('a run ends with the count, the reason and the names of what it has not run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'not-run-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'test'));
  const suite = `describe('graphs', { skip: true, meta: { notRun: 'no Python' } }, () => {
      describe('in Python', () => test('run', () => {}));
      test('load', () => {});
    });
    test.skip('for another reason', () => {});
    test('passes', () => {});`;
  await writeFile(join(folder, 'test/graphs.test.js'), suite);
  const config = { test: { globals: true, reporters: [join(import.meta.dirname, 'not-run-reporter.ts')] } };
  await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
  const child = endWithTest(
    spawn(process.execPath, [vitest, 'run', '--root', folder], { env: { ...process.env, CI: '1' } }),
  );
  const code = new Promise((resolve) => child.on('close', resolve));
  expect(await text(child.stdout)).toBe(
    'not run: 2 tests that need Python (no Python)\n' +
      '  test/graphs.test.js > graphs > in Python > run\n' +
      '  test/graphs.test.js > graphs > load\n',
  );
  expect(await code).toBe(0);
});
