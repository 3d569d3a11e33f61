import { silentLogger } from '../src/logger.ts';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/postgres/embedded.ts';
import type { EmbeddedPostgres } from '../src/postgres/embedded.ts';
import { isOpen, openPackages } from './installed-packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A port that returns the address of the run's Postgres, and starts that server on the first connection. */
    postgresProxy: number;
  }
}

/**
 * One Postgres for a whole run, started on the first connection to a cheap local port. It loses data on a crash
 * (fsync off), which is fine for tests; the product is tested with servers of its own.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  process.env['TMPDIR'] = temporaryFolder();
  let server: Promise<EmbeddedPostgres> | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'landfall-tests-'));
  // As root the server runs as another user, who has to get in.
  chmodSync(folder, 0o711);
  openPackages(folder);
  // Hundreds of processes load the same modules: with their compiled code each starts in half the time.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  const start = () =>
    startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      log: silentLogger,
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    });

  const proxy = createServer((socket) => {
    server ??= start();
    server.then(
      ({ url }) => socket.end(url),
      (error: unknown) => socket.end(`failed: ${String(error)}`),
    );
    // A test that ends without waiting for the answer is no concern of the run's.
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('The port of the test database is unknown.');
  project.provide('postgresProxy', address.port);

  return async () => {
    await new Promise((resolve) => proxy.close(resolve));
    await (await server)?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** As root databases and builds run as other users, who have to get into what tests make. */
function temporaryFolder(): string {
  if (process.getuid?.() !== 0) return tmpdir();
  return [tmpdir(), '/tmp', '/var/tmp'].find((folder) => existsSync(folder) && isOpen(folder)) ?? tmpdir();
}
