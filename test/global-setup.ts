import { silentLogger } from '../src/kit/logger.ts';
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/kit/postgres/embedded.ts';
import type { EmbeddedPostgres } from '../src/kit/postgres/embedded.ts';
import { olderEngines, openPythonEnvironment } from '../scripts/python-environment.ts';
import { isOpen, openPackages } from './installed-packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A port that returns the address of the run's Postgres, and starts that server on the first connection. */
    postgresUrlPort: number;
    /** A port that returns the run's Python environment as JSON, and makes it on the first connection. */
    pythonPort: number;
    /** A port that returns the environments of `olderEngines` by their names, and makes them on the first connection. */
    enginesPort: number;
  }
}

/**
 * One Postgres for a whole run, started on the first connection to a cheap local port. It loses data on a crash
 * (fsync off), which is fine for tests; the product is tested with servers of its own.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<EmbeddedPostgres> | undefined;
  const folder = createRunFolder();
  process.env['TMPDIR'] = folder;
  openPackages(folder);
  // Hundreds of processes load the same modules: with their compiled code each starts in half the time.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  const start = () =>
    startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      log: silentLogger,
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    });
  const postgres = await answerOnce(async () => (await (server ??= start())).url);
  project.provide('postgresUrlPort', postgres.port);
  const python = await answerOnce(async () => JSON.stringify(await openPythonEnvironment()));
  project.provide('pythonPort', python.port);
  const engines = await answerOnce(async () => {
    const open = async (engine: string) => [engine, await openPythonEnvironment({ changes: `engine-${engine}` })];
    return JSON.stringify(Object.fromEntries(await Promise.all(olderEngines.map(open))));
  });
  project.provide('enginesPort', engines.port);

  return async () => {
    await Promise.all([postgres.close(), python.close(), engines.close()]);
    await (await server)?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Opens a port whose connections all get the same answer, which is made for the first of them. */
async function answerOnce(make: () => Promise<string>): Promise<{ port: number; close: () => Promise<void> }> {
  let made: Promise<string> | undefined;
  const server = createServer((socket) => {
    made ??= make();
    made.then(
      (answer) => socket.end(answer),
      (error: unknown) => socket.end(`failed: ${String(error)}`),
    );
    // Ignores tests that disconnect before the answer.
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The port of the test run is unknown.');
  return { port: address.port, close: () => new Promise((resolve) => void server.close(() => resolve())) };
}

const memoryFolder = '/dev/shm';
const prefix = 'landfall-tests-';

/**
 * Creates the folder for the temporary files of this test run, in memory (tmpfs) where there is room: on a disk, the
 * suite takes a fifth longer. Folders that killed test runs left in memory are removed after a day. Where the tests run as
 * root, Postgres and builds run as other users, who must be able to enter it.
 */
function createRunFolder(): string {
  const candidates = [...(isUsableMemory(memoryFolder) ? [memoryFolder] : []), tmpdir(), '/tmp', '/var/tmp'];
  const isUsable = (parent: string) => existsSync(parent) && (process.getuid?.() !== 0 || isOpen(parent));
  const parent = candidates.find(isUsable) ?? tmpdir();
  if (parent === memoryFolder) removeAbandoned(memoryFolder);
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** Whether it has enough room, the machine has enough memory beside it, and programs in it can be run (not `noexec`). */
function isUsableMemory(folder: string): boolean {
  if (!existsSync(folder) || !isWritable(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * 2 ** 30 || process.availableMemory() < 6 * 2 ** 30) return false;
  const probe = mkdtempSync(join(folder, `${prefix}${process.pid}-`));
  try {
    writeFileSync(join(probe, 'program'), '#!/bin/sh\n', { mode: 0o755 });
    return spawnSync(join(probe, 'program')).status === 0;
  } finally {
    rmSync(probe, { recursive: true });
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) {
    const [pid] = name.slice(prefix.length).split('-');
    const path = join(parent, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    // Containers may share /dev/shm without sharing process ids, so a missing process alone does not prove it.
    const isOld = found !== undefined && Date.now() - found.mtimeMs > 24 * 3600 * 1000;
    if (isOld && found.uid === process.getuid?.() && !existsSync(`/proc/${pid}`)) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
