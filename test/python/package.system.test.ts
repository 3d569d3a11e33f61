import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { endWithTest } from '../child-process.ts';
import { describePython } from './needs-python.ts';

const folder = join(import.meta.dirname, '../../python');

/** Runs the tests of the worker's package. @throws Error with all that pytest says, which names those that fail */
async function runPytest(python: string): Promise<string> {
  const args = ['-m', 'pytest', '-q', '-rfE', '--color=no', '-p', 'no:cacheprovider'];
  // Nothing is written into the checkout, which may belong to another user.
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const child = endWithTest(spawn(python, args, { cwd: folder, env }));
  const code = new Promise((resolve) => child.on('close', resolve));
  const output = await text(child.stdout);
  if ((await code) !== 0) throw new Error(`pytest fails:\n${output}`);
  return output;
}

describePython('the worker in Python', (python) => {
  test('passes all tests of python/tests', async () => {
    expect(await runPytest(python)).toMatch(/^\d+ passed in/m);
  });
});
