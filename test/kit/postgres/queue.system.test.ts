import { silentLogger } from '../../../src/kit/logger.ts';
import { loggerTo } from '../../logger.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import type { Database } from '../../../src/kit/postgres/database.ts';
import { openQueue, withoutRepetition } from '../../../src/kit/postgres/queue.ts';
import type { OpenQueueOptions, Queue } from '../../../src/kit/postgres/queue.ts';
import { startTestPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

interface Tables {
  delivery: { id: string };
}

let postgres: TestPostgres;
let database: Database<Tables>;
const open: Queue[] = [];
const logged: string[] = [];

beforeAll(async () => {
  postgres = await startTestPostgres();
  database = openDatabase<Tables>({ url: postgres.url });
  await database.db.schema
    .createTable('delivery')
    .addColumn('id', 'uuid', (id) => id.primaryKey())
    .execute();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((queue) => queue.stop({ timeoutMs: 1_000 })));
  logged.splice(0);
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

async function queue(options: Partial<OpenQueueOptions> = {}): Promise<Queue> {
  const opened = await openQueue({ url: postgres.url, log: loggerTo((message) => logged.push(message)), ...options });
  open.push(opened);
  return opened;
}

/** Seconds between polls, longer than a test may take: what happens in time does not wait for one. */
const pollsTooLate = 3_000;

async function until(true_: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  for (const deadline = Date.now() + ms; !(await true_());) {
    if (Date.now() > deadline) throw new Error('It did not come to pass in time.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("no job waits a day when the database's clock is set back by one", async () => {
  const schema = 'setback';
  const query = (text: string) => database.pool.query(text);
  const setBack = (by: string) =>
    query(
      `create or replace function ${schema}.job_now() returns timestamptz as $$ select now() - interval '${by}' $$
         language sql stable`,
    );
  const before = await queue({ schema });
  const late = await before.send('clock', { name: 'late' }, { startAfter: 3_600 });
  await before.send('clock', { name: 'new' });
  await before.send('clock', { name: 'repeated' });
  await query(`update ${schema}.job set state = 'retry', retry_count = 1 where data ->> 'name' = 'repeated'`);
  await before.stop();
  await setBack('1 day');
  const after = await queue({ schema });
  const received: string[] = [];
  await after.work<{ name: string }>('clock', { pollSeconds: 0.5 }, async ({ data }) => void received.push(data.name));
  await until(() => received.length === 2);
  expect(new Set(received)).toEqual(new Set(['new', 'repeated']));
  const { rows } = await query(
    `select extract(epoch from start_after - ${schema}.job_now())::float as seconds from ${schema}.job where id = '${late}'`,
  );
  expect(rows[0].seconds).toBeGreaterThan(3_000);
  expect(rows[0].seconds).toBeLessThanOrEqual(3_600);
});

describe('a job and a row in one transaction', () => {
  test('both are there after the commit', async () => {
    const jobs = await queue();
    const done: string[] = [];
    await jobs.work<{ delivery: string }>('commit', {}, async ({ data }) => void done.push(data.delivery));
    const id = randomUUID();
    await database.db.transaction().execute(async (tx) => {
      await tx.insertInto('delivery').values({ id }).execute();
      expect(await jobs.send('commit', { delivery: id }, { id, db: tx })).toBe(id);
    });
    await until(() => done.length === 1);
    expect(done).toEqual([id]);
  });

  test('neither is there after a rollback', async () => {
    const jobs = await queue();
    const done: string[] = [];
    await jobs.work<{ delivery: string }>('rollback', {}, async ({ data }) => void done.push(data.delivery));
    const id = randomUUID();
    const broken = database.db.transaction().execute(async (tx) => {
      await tx.insertInto('delivery').values({ id }).execute();
      await jobs.send('rollback', { delivery: id }, { id, db: tx });
      await jobs.sendMany('rollback', [{ data: { delivery: 'many' } }], { db: tx });
      throw new Error('the disk is full');
    });
    await expect(broken).rejects.toThrow('the disk is full');
    // A later job that is done shows that there was none before it.
    await jobs.send('rollback', { delivery: 'afterwards' });
    await until(() => done.length > 0);
    expect(done).toEqual(['afterwards']);
    const rows = await database.db.selectFrom('delivery').where('id', '=', id).selectAll().execute();
    expect(rows).toEqual([]);
  });
});

describe('ids', () => {
  test('does not send a job with a known id again', async () => {
    const jobs = await queue();
    const id = randomUUID();
    expect(await jobs.send('once', {}, { id })).toBe(id);
    expect(await jobs.send('once', {}, { id })).toBeUndefined();
  });

  test('sends many jobs at once, except repetitions and known ones', async () => {
    const jobs = await queue();
    const [known, a, b] = [randomUUID(), randomUUID(), randomUUID()];
    await jobs.send('many', {}, { id: known });
    const sent = await jobs.sendMany(
      'many',
      [known, a, a, b].map((id) => ({ id, data: {} })),
    );
    expect(sent.sort()).toEqual([a, b].sort());
    expect(await jobs.sendMany('many', [])).toEqual([]);
  });

  test('the first of several jobs with one id counts, and all without an id', () => {
    const list = [{ id: 'a', n: 1 }, { n: 2 }, { id: 'a', n: 3 }, { n: 4 }];
    expect(withoutRepetition(list).map(({ n }) => n)).toEqual([1, 2, 4]);
  });
});

describe('latency', () => {
  test('a job starts at once and not at the next poll', async () => {
    const jobs = await queue();
    let started: () => void = () => undefined;
    await jobs.work('prompt', { pollSeconds: pollsTooLate }, async () => started());
    // The worker polled once before the first job is sent.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let round = 0; round < 15; round += 1) {
      const began = new Promise<string>((resolve) => (started = () => resolve('started')));
      await jobs.send('prompt', {});
      expect(await began).toBe('started');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  test('a job of another process starts this worker at once', async () => {
    const [here, there] = [await queue(), await queue()];
    const done: number[] = [];
    await here.work<{ n: number }>('across', { pollSeconds: pollsTooLate }, async ({ data }) => void done.push(data.n));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await there.send('across', { n: 1 });
    await until(() => done.length === 1);
    expect(done).toEqual([1]);
  });

  test('a backlog is processed without waiting for polls', async () => {
    const jobs = await queue();
    await jobs.sendMany(
      'backlog',
      Array.from({ length: 40 }, (_, n) => ({ data: { n } })),
    );
    const done: number[] = [];
    await jobs.work<{ n: number }>(
      'backlog',
      { pollSeconds: pollsTooLate, concurrency: 2 },
      async ({ data }) => void done.push(data.n),
    );
    await until(() => done.length === 40);
    expect([...done].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  test('a delayed job waits for its time', async () => {
    const jobs = await queue();
    const done: number[] = [];
    await jobs.work('later', { pollSeconds: 0.5 }, async () => void done.push(performance.now()));
    const sent = performance.now();
    await jobs.send('later', {}, { startAfter: 1 });
    await until(() => done.length === 1);
    expect((done[0] ?? 0) - sent).toBeGreaterThan(900);
  });
});

describe('a handler', () => {
  test('that throws has its job retried, and its error logged without secrets', async () => {
    const jobs = await queue();
    await jobs.define('shaky', { retryDelay: 1 });
    const attempts: number[] = [];
    await jobs.work('shaky', { pollSeconds: 0.5 }, async ({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw Object.assign(new Error('not yet'), { request: { key: 'canary-7c1' } });
    });
    await jobs.send('shaky', {});
    await until(() => attempts.length === 2);
    expect(attempts).toEqual([1, 2]);
    expect(logged.join('\n')).toContain('failed at attempt 1: not yet');
    const stored = await database.pool.query("select output::text as text from pgboss.job where name = 'shaky'");
    expect(JSON.stringify([logged, stored.rows])).not.toContain('canary-7c1');
  });

  test('processes up to the configured number of jobs at a time', async () => {
    const jobs = await queue();
    let [now, most] = [0, 0];
    const done: number[] = [];
    await jobs.work('parallel', { concurrency: 3 }, async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 50));
      now -= 1;
      done.push(1);
    });
    await jobs.sendMany(
      'parallel',
      Array.from({ length: 12 }, () => ({ data: {} })),
    );
    await until(() => done.length === 12);
    expect(most).toBe(3);
  });
});

describe('stop', () => {
  test('waits for the running job', async () => {
    const jobs = await queue();
    let finished = false;
    let started = false;
    await jobs.work('finishing', {}, async () => {
      started = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
      finished = true;
    });
    await jobs.send('finishing', {});
    await until(() => started);
    await jobs.stop({ timeoutMs: 5_000 });
    expect(finished).toBe(true);
  });

  test('is quick without a running job', async () => {
    const jobs = await queue();
    await jobs.work('idle', {}, async () => undefined);
    expect(await jobs.stop({ timeoutMs: 600_000 })).toBeUndefined();
  });

  test('ends although the database does not respond', async () => {
    const before = await queue({ schema: 'silent' });
    const id = await before.send('blocked', {});
    await before.stop();
    // The queue moves this job back as it starts, and waits for the lock of its row.
    await database.pool.query(`update silent.job set created_on = now() + interval '1 hour' where id = '${id}'`);
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query(`select from silent.job where id = '${id}' for update`);
      const jobs = await openQueue({ url: postgres.url, schema: 'silent', log: silentLogger });
      const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await until(async () => (await database.pool.query(waits)).rowCount === 1);
      const stopping = jobs.stop({ timeoutMs: 100 }).then(() => 'stopped');
      expect(await Promise.race([stopping, new Promise((resolve) => setTimeout(resolve, 20_000, 'waits'))])).toBe(
        'stopped',
      );
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('aborts a job that hangs, and it is retried later', async () => {
    const jobs = await queue();
    let aborted = false;
    let started = false;
    await jobs.work('endless', {}, async ({ signal }) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted = true;
    });
    await jobs.send('endless', {});
    await until(() => started);
    await jobs.stop({ timeoutMs: 100 });
    expect(aborted).toBe(true);
    const again = await queue();
    const attempts: number[] = [];
    await again.work('endless', { pollSeconds: 0.5 }, async ({ attempt }) => void attempts.push(attempt));
    await until(() => attempts.length === 1);
    expect(attempts).toEqual([2]);
  });
});
