import { silentLogger } from '../../../src/kit/logger.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/kit/clock.ts';
import { changeNotifier, hearChanges } from '../../../src/services/control/logs/change-notifier.ts';
import { claimDatabase } from '../../../src/services/control/database-claim.ts';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue } from '../../../src/kit/postgres/queue.ts';
import { resolveDatabase } from '../../../src/kit/postgres/resolve-database.ts';
import { serveAgent } from '../../services/agent/serving.ts';
import { startTestPostgres, type TestPostgres } from './postgres.ts';
import { startingPostgres } from './starting-postgres.ts';

let postgres: TestPostgres;
let folder: string;
const log = silentLogger;
beforeAll(async () => {
  postgres = await startTestPostgres();
  folder = mkdtempSync(join(tmpdir(), 'landfall-starting-'));
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Everything that is the first to connect at a start of something, and is closed again. */
const starts: [string, (url: string) => Promise<void>][] = [
  ['an agent server', async (databaseUrl) => (await serveAgent({ databaseUrl })).close()],
  [
    'the choice of the database',
    async (url) => (await resolveDatabase({ databaseUrl: url, dataDir: folder, log })).close(),
  ],
  ['the claim of a service', async (url) => (await claimDatabase(url, systemClock, log)).release()],
  ['a job queue', async (url) => (await openQueue({ url, log })).stop()],
  ['a listener to notifications', async (url) => (await hearChanges(url, changeNotifier(), systemClock)).close()],
  [
    'a migration',
    async (url) => {
      const database = openDatabase({ url });
      await migrate(database.db, [{ name: '001-none', up: async () => undefined }], { table: 'started' });
      await database.close();
    },
  ],
];

test.each(starts)('%s waits for a database that is starting up', async (_, start) => {
  const starting = await startingPostgres(postgres.url, 4);
  await start(starting.url);
  expect(starting.refused()).toBe(4);
  await starting.close();
});
