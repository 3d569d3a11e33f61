import { silentLogger } from '../../../src/kit/logger.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue, type Queue } from '../../../src/kit/postgres/queue.ts';
import { decisionWords } from '../../../src/deploy/words/decision.ts';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/reconcile/migrations.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { baselinesContract } from './baselines.contract.ts';
import { storeContract, type OpenedStore } from './store.contract.ts';
import { checkSaying, commitOf, start, requestOf } from './requests.ts';

let postgres: TestPostgres;
let database: Database<unknown>;

beforeAll(async () => {
  postgres = await startTestPostgres();
  database = openDatabase<unknown>({ url: postgres.url, max: 8 });
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

const empty = () =>
  sql`truncate app.intents, app.queues, app.reports, app.baselines, app.commands`.execute(database.db);

describe('the work in Postgres', () => {
  const open = async (): Promise<OpenedStore> => {
    await empty();
    let now = start;
    const jobs: OpenedStore['jobs'] = [];
    const queue: Pick<Queue, 'send' | 'sendMany'> = {
      send: async (name, data, { startAfter } = {}) => {
        const at = typeof startAfter === 'number' ? now + startAfter * 1_000 : now;
        const id = 'deploymentId' in data ? String(data.deploymentId) : '';
        jobs.push({ name, id, at });
        return undefined;
      },
      sendMany: async (name, sent) => {
        for (const { data } of sent) jobs.push({ name, id: 'id' in data ? String(data.id) : '', at: now });
        return [];
      },
    };
    const store = new PostgresStore({ pool: database.pool, queue, clock: { now: () => now }, timeBy: 'given' });
    return { store, jobs, setNow: (to) => (now = to), close: async () => undefined };
  };
  storeContract(open);
  baselinesContract(open);
});

describe('jobs and work in one transaction', () => {
  test('a request sends its job, and a step that was not stored sends none', async () => {
    await empty();
    const queue = await openQueue({ url: postgres.url, log: silentLogger });
    try {
      const store = new PostgresStore({ pool: database.pool, queue, clock: { now: () => Date.now() } });
      const received: string[] = [];
      await queue.work<{ id: string }>('report', {}, async ({ data }) => void received.push(data.id));
      const queues = new Promise<string>((resolve) => {
        void queue.work<{ deploymentId: string }>('lane', {}, async ({ data }) => resolve(data.deploymentId));
      });
      await store.request(requestOf(commitOf('a')));
      expect(await queues).toBe('deployment-1');
      const lost = { deploymentId: 'deployment-1', holder: 'no-holder', notifiedSeq: 1 };
      await expect(store.save(lost, { reports: [checkSaying('lost', commitOf('a'))] })).rejects.toThrow(
        'another process',
      );
      await store.putReport(checkSaying('kept', commitOf('b')));
      const kept = await store.reportOf(22, commitOf('b'), 'Landfall: support');
      await expect.poll(() => received).toEqual([kept?.id]);
    } finally {
      await queue.stop({ timeoutMs: 1_000 });
    }
  });
});

test('passes run on time, whatever the clocks of the processes', async () => {
  await empty();
  const queue = await openQueue({ url: postgres.url, log: silentLogger });
  try {
    const at = (ahead: number) =>
      new PostgresStore({ pool: database.pool, queue, clock: { now: () => Date.now() + ahead } });
    const [early, late] = [at(-3_600_000), at(3_600_000)];
    await early.request(requestOf(commitOf('a')));
    const lease = await late.takeLease('deployment-1', 'late', 60_000);
    if (!lease) throw new Error('the lease was not given');
    expect(await early.takeLease('deployment-1', 'early', 60_000)).toBeUndefined();
    await late.leaveLease(lease, Date.now() + 3_600_000 + 2_500);
    expect(await early.takeLease('deployment-1', 'early', 60_000)).toBeUndefined();
    const received = Promise.withResolvers<boolean>();
    const left = performance.now();
    await queue.work('lane', { pollSeconds: 1 }, async () => {
      const taken = await early.takeLease('deployment-1', 'early', 60_000);
      if (taken) received.resolve(true);
    });
    expect(await received.promise).toBe(true);
    expect(performance.now() - left).toBeGreaterThan(1_000);
  } finally {
    await queue.stop({ timeoutMs: 1_000 });
  }
});

test('several processes migrate concurrently', async () => {
  const fresh = await startTestPostgres();
  const opened = [1, 2].map(() => openDatabase<unknown>({ url: fresh.url }));
  try {
    const applied = await Promise.all(
      opened.map(({ db }) => migrate(db, workMigrations, { schema: workSchema, table: workMigrationTable })),
    );
    expect(applied.flat()).toEqual([
      '001-work',
      '002-standard-names',
      '003-baselines',
      '004-held-commits',
      '005-commands',
      '006-promotes',
    ]);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    await fresh.stop();
  }
});

test('tables under the former names are migrated with their rows', async () => {
  const former = await startTestPostgres();
  const opened = openDatabase<unknown>({ url: former.url });
  try {
    const options = { schema: workSchema, table: workMigrationTable };
    await migrate(opened.db, workMigrations.slice(0, 1), options);
    const body = {
      decision: { kind: 'skip', code: 'already-told', why: 'x' },
      smoke: { version: 1, under: { kind: 'asked', runId: 'r', told: true } },
    };
    const repository = { repositoryId: 1 };
    await opened.pool.query(
      `insert into app.intents (id, deployment_id, repository_id, repository, commit, cause_kind, cause_key, state, body)
       values (gen_random_uuid(), 'd', 1, $1, 'c', 'push', 'k', 'wished', $2)`,
      [repository, body],
    );
    await opened.pool.query(`insert into app.lanes (deployment_id, wakes, heeded) values ('d', 3, 2)`);
    await opened.pool.query(
      `insert into app.intents (id, deployment_id, repository_id, repository, commit, cause_kind, cause_key, state, body)
       values (gen_random_uuid(), 'e', 1, $1, 'c', 'push', 'k', 'waiting', $2)`,
      [repository, { decision: { kind: 'wait', revisionId: 'r2', why: 'revision r2 is on its way' } }],
    );
    await opened.pool.query(`insert into app.lanes (deployment_id, held) values ('e', $1)`, [
      { since: 5, why: 'commit abc1234 was rolled back' },
    ]);
    await opened.pool.query(`insert into app.lanes (deployment_id, held) values ('f', $1)`, [
      { since: 5, why: 'a person rolled back' },
    ]);
    await opened.pool.query(
      `insert into app.reports (id, kind, repository_id, repository, head_sha, name, wanted, version, told_version, told_at, told)
       values (gen_random_uuid(), 'check', 1, $1, 'c', 'n', '{}', 2, 1, 5, '{"state":"queued"}')`,
      [repository],
    );
    await migrate(opened.db, workMigrations, options);

    const queue: Pick<Queue, 'send' | 'sendMany'> = { send: async () => undefined, sendMany: async () => [] };
    const store = new PostgresStore({ pool: opened.pool, queue, clock: { now: () => start } });
    const [intent] = await store.openIntents('d');
    expect(intent).toMatchObject({
      state: 'requested',
      decision: { kind: 'skip', code: 'already-reported', why: 'x' },
    });
    const { rows } = await opened.pool.query(
      `select body -> 'smoke' as smoke from app.intents where deployment_id = 'd'`,
    );
    expect(rows).toEqual([{ smoke: { version: 1, under: { kind: 'started', runId: 'r', reported: true } } }]);
    const [waiting] = await store.openIntents('e');
    expect(waiting?.decision && decisionWords(waiting.decision)).toBe('revision r2 is on its way');
    expect(await store.deploymentQueue('e')).toMatchObject({ held: { since: 5, commit: 'abc1234' } });
    expect(await store.deploymentQueue('f')).toMatchObject({ held: { since: 5 } });
    const [id = ''] = await store.pendingReports();
    expect(await store.report(id)).toMatchObject({
      version: 2,
      reportedVersion: 1,
      reportedAt: 5,
      reported: { state: 'queued' },
    });
    expect(await store.takeLease('d', 'a test', 1_000)).toMatchObject({ notifiedSeq: 3 });
  } finally {
    await opened.close();
    await former.stop();
  }
});
