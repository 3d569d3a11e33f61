// A benchmark that can't run is a defect: each family runs once here, small, and its figures are not judged.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { families } from '../../bench/families.ts';
import { describePython } from '../python/needs-python.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres/postgres.ts';

// No figure is judged, so families may run beside each other.
vi.setConfig({ maxConcurrency: 3 });
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres?.stop());

const root = dirname(dirname(import.meta.dirname));

function run(family: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(root, 'bench/main.ts'), '--only', family], {
    cwd: root,
    env: { ...process.env, LANDFALL_BENCH_TINY: '1', LANDFALL_BENCH_TINY_POSTGRES: postgres.adminUrl },
  });
  const end = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (end.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (end.err += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...end }));
  });
}

const inPython = ['python-runs'];
const others = Object.keys(families).filter((name) => !inPython.includes(name));

test.concurrent.each(others)('%s can be measured', canBeMeasured);
describePython('of Python,', () => {
  test.concurrent.each(inPython)('%s can be measured', canBeMeasured);
});

async function canBeMeasured(family: string): Promise<void> {
  const { code, out, err } = await run(family);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^\S+ \(.+\)[^]*^ {2}ours +[\d.,]+/m);
}
