import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { root } from './run-cli.ts';

/** A package as npm installs it: the launcher, and in the place of the command line a program that tells of itself. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-launcher-')));
const launcher = join(folder, 'bin', 'landfall.cjs');
const result = `
  const [what, code] = process.argv.slice(2);
  if (what === 'exit') process.exit(Number(code));
  if (what === 'wait') {
    process.on(code, () => { console.log('got ' + code); process.exit(7); });
    setInterval(() => {}, 1000);
    console.log('ready');
  } else if (what === 'die') process.kill(process.pid, 'SIGKILL');
  else console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), node: process.execPath }));
`;
/** Preloaded, it makes this Node report an old version. */
const oldNode = join(folder, 'old-node.cjs');
const packageOfNode = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');

function writeProgram(): void {
  mkdirSync(join(folder, 'bin/lib'), { recursive: true });
  writeFileSync(join(folder, 'bin/lib/cli.js'), result);
}

beforeAll(() => {
  writeProgram();
  copyFileSync(join(root, 'bin/landfall.cjs'), launcher);
  writeFileSync(oldNode, "Object.defineProperty(process.versions, 'node', { value: '20.1.0' });");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

function launch(args: readonly string[], { node = [], signal }: { node?: string[]; signal?: NodeJS.Signals } = {}) {
  const child = spawn(process.execPath, [...node, launcher, ...args], { cwd: tmpdir() });
  const said = { out: '', err: '' };
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
    if (signal && said.out.includes('ready')) child.kill(signal);
  });
  return new Promise<End>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, ended) => resolve({ code, signal: ended, ...said }));
  });
}

describe('the launcher', () => {
  test('starts with a shebang line', () => {
    expect(readFileSync(launcher, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node');
  });

  test('passes the arguments and the working directory', async () => {
    const { code, out } = await launch(['plan', '--name', 'a b', '']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ args: ['plan', '--name', 'a b', ''], cwd: realpathSync(tmpdir()) });
  });

  test.each([0, 1, 2])('passes on the exit code %i', async (code) => {
    expect(await launch(['exit', String(code)])).toMatchObject({ code });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('passes on %s and waits for the end', async (signal) => {
    const end = await launch(['wait', signal], { signal });
    expect(end).toMatchObject({ code: 7, out: `ready\ngot ${signal}\n` });
  });

  test('exits with the signal that ended the command line', async () => {
    expect(await launch(['die'])).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  test('reports a missing Node 24, and exits with 1', async () => {
    const end = await launch(['plan'], { node: ['--require', oldNode] });
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toContain('landfall needs Node 24');
    expect(end.err).toContain('npm install --save-dev node@24');
  });

  test('says what to do where the package was not built', async () => {
    rmSync(join(folder, 'bin/lib'), { recursive: true });
    onTestFinished(writeProgram);
    const end = await launch(['plan']);
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toContain('npm install --ignore-scripts=false');
  });

  test('under an old Node uses the Node of a package next to it', async () => {
    mkdirSync(dirname(packageOfNode), { recursive: true });
    symlinkSync(process.execPath, packageOfNode);
    chmodSync(packageOfNode, 0o755);
    const { code, out } = await launch(['plan'], { node: ['--require', oldNode] });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ args: ['plan'] });
  });
});
