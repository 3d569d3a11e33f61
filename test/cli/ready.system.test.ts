import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';

const ready = resolve(import.meta.dirname, '../../scripts/ready.mjs');
const folder = mkdtempSync(join(tmpdir(), 'landfall-ready-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a program that npm started exits with npm, which sends it no signal', async () => {
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `process.on('SIGTERM', () => { console.log('left'); process.exit(0); });
    console.log('here');
    setInterval(() => undefined, 1000);`,
  );
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${ready}" "${program}"; true`], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('here');
  const ended = once(shell, 'exit');
  shell.kill('SIGKILL');
  await ended;
  expect((await lines.next()).value).toBe('left');
});
