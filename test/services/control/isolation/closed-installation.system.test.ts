import { loggerTo } from '../../../logger.ts';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isolate, removeIsolated, type Isolation } from '../../../../src/services/control/isolation/isolation.ts';
import { write } from '../builds/repositories.ts';
import { agentServerPath } from '../../../../src/services/control/compute/agent-environment.ts';
import { agentServerPackages, copyProgram, sampleFiles } from '../../../../src/services/control/isolation/program.ts';

const asRoot = process.getuid?.() === 0;
/** The warning of a service of an ordinary user about its agents. */
const ofOneUser = "Agents and builds run as this service's own user";
let folder: string;
let systemFolder: string;
const logged: string[] = [];
const log = loggerTo((message: string): void => void logged.push(message));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-closed-'));
  chmodSync(folder, 0o755);
  systemFolder = join(folder, 'system');
  mkdirSync(systemFolder, { mode: 0o755 });
  chmodSync(systemFolder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder that everyone may enter. */
function madeFolder(name: string): string {
  const made = join(folder, name);
  mkdirSync(made);
  chmodSync(made, 0o755);
  return made;
}

/** A data folder below a home that only its owner may enter. */
function closedData(name: string): string {
  const dataDir = join(folder, name, 'data');
  mkdirSync(dataDir, { recursive: true });
  chmodSync(join(folder, name), 0o700);
  return dataDir;
}

const program = { node: process.execPath, agentServer: agentServerPath() };

describe(`a service ${asRoot ? 'that is root' : 'of an ordinary user'}`, () => {
  test.each(asRoot ? ['copy of its program'] : [])('creates a complete %s', () => {
    const { agentServer } = copyProgram({ ...program, node: '/bin/sh' }, madeFolder('whole'));
    const ran = spawnSync(process.execPath, [agentServer], { cwd: '/', env: {}, encoding: 'utf8' });
    expect(ran.stderr).toContain('error[environment]');
  });

  test.each(asRoot ? ['once for each state of the installation'] : [])(
    'creates the copy %s, and keeps the last two',
    () => {
      const installed = madeFolder('installed');
      const packages = agentServerPackages.flatMap((name) => [
        [`node_modules/${name}/package.json`, JSON.stringify({ name, dependencies: {} })],
        [`node_modules/${name}/index.js`, 'export {};'],
      ]);
      write(installed, {
        'package.json': '{}',
        'src/main.ts': 'one',
        node: '#!/bin/sh',
        ...Object.fromEntries(packages),
      });
      chmodSync(join(installed, 'node'), 0o700);
      chmodSync(installed, 0o700);
      const own = madeFolder('copies');
      const copy = () =>
        copyProgram({ node: join(installed, 'node'), agentServer: join(installed, 'src/main.ts') }, own);
      const first = copy();
      expect(copy()).toEqual(first);
      expect([first.node, first.agentServer].map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual([
        '755',
        '644',
      ]);
      const later = ['longer', 'longer still'].map((text) => {
        write(installed, { 'src/main.ts': text });
        return copy();
      });
      expect(readdirSync(own)).toHaveLength(2);
      expect([first, ...later].map(({ agentServer }) => existsSync(agentServer))).toEqual([false, true, true]);
    },
  );

  test.each(asRoot ? ['an installation that is gone'] : [])('removes the copies of %s at startup', async () => {
    const own = madeFolder('forsaken');
    const dataDir = madeFolder('open-data');
    const copy = join(own, `program-${'0'.repeat(16)}-${'1'.repeat(16)}`);
    write(copy, { 'stands-for': join(folder, 'never-was'), 'src/main.ts': '' });
    await isolate({ dataDir, agentServer: program.agentServer, log, systemFolder: own });
    expect(existsSync(copy)).toBe(false);
  });

  test('knows files that show whether its program is readable', () => {
    expect(sampleFiles(program).filter((file) => !statSync(file).isFile())).toEqual([]);
  });

  test('keeps builds where their users can go, and removes them with the data folder', async () => {
    const dataDir = closedData('home');
    const isolation: Isolation = await isolate({ dataDir, agentServer: program.agentServer, log, systemFolder });
    expect(isolation.warning?.startsWith(ofOneUser)).toBe(asRoot ? undefined : true);
    expect(isolation.folder.replace(/[0-9a-f]{16}$/, 'KEY')).toBe(asRoot ? `${systemFolder}/agents-KEY` : dataDir);
    expect(logged.join().includes(`may not enter ${dataDir}`)).toBe(asRoot);
    await removeIsolated(dataDir, systemFolder);
    expect(readdirSync(systemFolder).filter((name) => name.startsWith('agents-'))).toEqual([]);
  });

  test('removes folders of a deleted data folder at startup without following symlinks', async () => {
    const [gone, kept] = [closedData('gone'), closedData('kept')];
    const first = await isolate({ dataDir: gone, agentServer: program.agentServer, log, systemFolder });
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'stays');
    if (asRoot) symlinkSync(folder, join(first.folder, 'builds', 'link'));
    rmSync(gone, { recursive: true });
    const next = await isolate({ dataDir: kept, agentServer: program.agentServer, log, systemFolder });
    const standing = readdirSync(systemFolder).filter((name) => name.startsWith('agents-'));
    expect(standing.map((name) => join(systemFolder, name))).toEqual(asRoot ? [next.folder] : []);
    expect(statSync(precious).isFile()).toBe(true);
  });

  test("warns once that agents run as its own user when others can't be used", async () => {
    const dataDir = closedData('nowhere');
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const output: string[] = [];
    const isolation = await isolate({
      dataDir,
      agentServer: program.agentServer,
      log: loggerTo((message) => output.push(message)),
      systemFolder: file,
    });
    expect(isolation).toMatchObject({ folder: dataDir, ids: undefined });
    expect(output).toEqual([isolation.warning]);
    expect(output[0]).toContain(asRoot ? 'Agents and builds run as root, like this service' : ofOneUser);
  });
});
