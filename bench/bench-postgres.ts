import { silentLogger } from '../src/kit/logger.ts';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../src/kit/postgres/databases.ts';
import { startEmbeddedPostgres, removeEmbeddedData } from '../src/kit/postgres/embedded.ts';
import { isTiny } from './rounds.ts';

/** A folder of a bench run. */
export interface BenchFolder extends AsyncDisposable {
  path: string;
}

/** Makes a folder that goes with its contents, a database's among them. */
export function benchFolder(): BenchFolder {
  const path = mkdtempSync(join(tmpdir(), 'landfall-bench-'));
  // As root a database runs as another user, who has to get in.
  chmodSync(path, 0o711);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A real Postgres, as the App brings it along: it writes to the disk before it says that it has. */
export interface BenchPostgres extends AsyncDisposable {
  /** Creates an empty database and returns its address. */
  database(name: string): Promise<string>;
}

/**
 * Starts it in a folder. It is stopped, and its data removed, where it is disposed of. Where figures mean nothing, a server
 * that runs may be given instead: then its owner removes the databases.
 */
export async function startBenchPostgres(folder: string): Promise<BenchPostgres> {
  const given = process.env['LANDFALL_BENCH_TINY_POSTGRES'];
  if (isTiny && given !== undefined) {
    return {
      database: (name) => createDatabase(given, `${name}_${randomBytes(4).toString('hex')}`),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const dataDir = join(folder, 'postgres');
  const log = silentLogger;
  const server = await startEmbeddedPostgres({ dataDir, log });
  // A database survives the process that started it, unless it is stopped.
  const end = async (): Promise<void> => {
    process.off('SIGINT', leave).off('SIGTERM', leave);
    await server.stop();
    await removeEmbeddedData({ dataDir, log });
  };
  const leave = (): void => void end().finally(() => process.exit(1));
  process.once('SIGINT', leave).once('SIGTERM', leave);
  return { database: (name) => createDatabase(server.url, name), [Symbol.asyncDispose]: end };
}
