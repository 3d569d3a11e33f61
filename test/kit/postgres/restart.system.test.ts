import { loggerTo } from '../../logger.ts';
import { silentLogger } from '../../../src/kit/logger.ts';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { startEmbeddedPostgres } from '../../../src/kit/postgres/embedded.ts';
import type { EmbeddedPostgres } from '../../../src/kit/postgres/embedded.ts';
import { openQueue } from '../../../src/kit/postgres/queue.ts';
import { isDatabaseUnavailable } from '../../../src/kit/postgres/unavailable.ts';

let folder: string;
let server: EmbeddedPostgres;
const start = () =>
  startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLogger, settings: { fsync: 'off' } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-restart-'));
  chmodSync(folder, 0o711);
  server = await start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function until(comesTrue: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 120_000; !comesTrue();) {
    if (Date.now() > deadline) throw new Error('It did not come to pass in time.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('queries fail as unavailable during a restart, then pool and queue recover', async () => {
  const crashes: unknown[] = [];
  const onCrash = (error: unknown) => crashes.push(error);
  process.on('unhandledRejection', onCrash);
  const logged: string[] = [];
  const log = loggerTo((message: string) => logged.push(message));
  const database = openDatabase({ url: server.url, log });
  const { db } = database;
  const queue = await openQueue({ url: server.url, log });
  const done: string[] = [];
  await queue.work<{ word: string }>('restart', { pollSeconds: 0.5 }, async ({ data }) => void done.push(data.word));
  await queue.send('restart', { word: 'before' });
  await until(() => done.length === 1);
  await sql`select 1`.execute(db);

  const slow = sql`select pg_sleep(30)`.execute(db).catch((error: unknown) => error);
  await server.stop();
  expect(isDatabaseUnavailable(await slow)).toBe(true);
  const meanwhile = await sql`select 1`.execute(db).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(meanwhile)).toBe(true);
  const unsent = await queue.send('restart', { word: 'lost' }).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(unsent)).toBe(true);
  // Long enough for the worker to poll in vain.
  await new Promise((resolve) => setTimeout(resolve, 700));

  server = await start();
  expect((await sql<{ n: number }>`select 1 as n`.execute(db)).rows).toEqual([{ n: 1 }]);
  await queue.send('restart', { word: 'after' });
  await until(() => done.length === 2);
  expect(done).toEqual(['before', 'after']);
  expect(logged.join('\n')).toContain('The job queue has a problem and goes on:');
  expect(logged.join('\n')).not.toContain(new URL(server.url).password);

  // Both stop soon, also without a database.
  await server.stop();
  await queue.stop({ timeoutMs: 500 });
  await database.close();
  server = await start();
  process.off('unhandledRejection', onCrash);
  expect(crashes).toEqual([]);
});

test('a job of a killed process is retried at once by the only worker', async () => {
  const first = await openQueue({ url: server.url, log: silentLogger });
  let started = false;
  await first.work('orphan', {}, async () => {
    started = true;
    // Never resolves, like the work of a killed process.
    await new Promise(() => undefined);
  });
  await first.send('orphan', {});
  await until(() => started);

  const second = await openQueue({ url: server.url, log: silentLogger, alone: true });
  const attempts: number[] = [];
  const began = performance.now();
  await second.work('orphan', { pollSeconds: 0.5 }, async ({ attempt }) => void attempts.push(attempt));
  await until(() => attempts.length === 1);
  expect(attempts).toEqual([2]);
  // Far below the heartbeat timeout.
  expect(performance.now() - began).toBeLessThan(8_000);
  await second.stop();
  await first.stop({ timeoutMs: 10 });
});
