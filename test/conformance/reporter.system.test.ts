import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readRunRecord } from './run-record.ts';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('./reporter.ts', import.meta.url));

const claim = { document: 'control-service', section: 'Endpoints', claim: 'It is so.', scope: 'first' };
const proven = { ...claim, id: 'control.made.proven', state: 'done' };
const unproven = { ...claim, id: 'control.made.unproven', state: 'done' };

/** A suite of two passing tests, one of them a proof, in a folder of its own. */
async function withSuite(claims: readonly unknown[], use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-claims-'));
  const files = {
    'test/proof.test.ts':
      "describe('over HTTP', () => { test('is so', { meta: { claims: ['control.made.proven'] } }, () => {}); });",
    'test/other.test.ts': "test('something else', () => {});",
    'claims.json': JSON.stringify({ claims, silent: [] }),
    'vitest.config.mjs': `export default ${JSON.stringify({
      test: {
        globals: true,
        reporters: [[reporter, { claims: join(folder, 'claims.json'), record: join(folder, 'cache/run.json') }]],
      },
    })};`,
  };
  try {
    await mkdir(join(folder, 'test'));
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(folder: string, ...filter: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, 'run', '--root', folder, ...filter], {
      env: { ...process.env, CI: '1' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe.concurrent('the reporter at the end of a run', () => {
  test('passes a whole run whose claims are true, counts them, and leaves its record', () =>
    withSuite([proven], async (folder) => {
      expect(await run(folder)).toEqual({ code: 0, output: 'claims: 1 done / 1 all (first part: 1 / 1)\n' });
      expect(readRunRecord(join(folder, 'cache/run.json')).tests).toEqual([
        { path: ['over HTTP', 'is so'], claims: ['control.made.proven'], state: 'passed' },
      ]);
    }));

  test('fails a passing run with the id of a claim that no test proves', () =>
    withSuite([proven, unproven], async (folder) => {
      const { code, output } = await run(folder);
      expect(output).toContain('control.made.unproven is marked done, but has no passing test over HTTP');
      expect(output).not.toContain('control.made.proven is');
      expect(code).toBe(1);
    }));

  test('judges nothing after a run of one file only', () =>
    withSuite([proven, unproven], async (folder) => {
      expect(await run(folder, 'other')).toEqual({
        code: 0,
        output: 'claims: partial run (1 of 2 test files did not run), 0 of 2 proven by it; nothing judged\n',
      });
      expect(existsSync(join(folder, 'cache/run.json'))).toBe(false);
    }));
});
