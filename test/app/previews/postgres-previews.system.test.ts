import { sql } from 'kysely';
import { afterAll, beforeAll, describe } from 'vitest';
import { previewMigrations, previewMigrationTable } from '../../../app/previews/migrations.ts';
import { PostgresPreviews } from '../../../app/previews/postgres-previews.ts';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/reconcile/migrations.ts';
import { type Database, openDatabase } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import type { Queue } from '../../../src/kit/postgres/queue.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { previewStoreContract, type OpenedPreviews } from './preview-store.contract.ts';

let postgres: TestPostgres;
let database: Database<unknown>;

beforeAll(async () => {
  postgres = await startTestPostgres();
  database = openDatabase<unknown>({ url: postgres.url, max: 4 });
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
  await migrate(database.db, previewMigrations, { schema: workSchema, table: previewMigrationTable });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

describe('previews in Postgres', () => {
  previewStoreContract(async () => {
    await sql`truncate app.previews, app.preview_pulls, app.reports`.execute(database.db);
    let now = 0;
    const jobs: OpenedPreviews['jobs'] = [];
    const queue: Pick<Queue, 'send' | 'sendMany'> = {
      send: async (name, data, { startAfter } = {}) => {
        const at = typeof startAfter === 'number' ? now + startAfter * 1_000 : now;
        jobs.push({ name, key: Object.values(data).join('/'), at });
        return undefined;
      },
      sendMany: async () => [],
    };
    const previews = new PostgresPreviews({ pool: database.pool, queue, clock: { now: () => now } });
    return { previews, jobs, now: () => now, setNow: (to) => (now = to) };
  });
});
