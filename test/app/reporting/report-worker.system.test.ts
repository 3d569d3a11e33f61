import { silentLogger } from '../../../src/kit/logger.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InstallationPaused, type GitHubApi } from '../../../app/github/github-api.ts';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/reconcile/migrations.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import { checkReport, reportJob } from '../../../app/reconcile/report.ts';
import { giveReportJobs, reportsAtOnce, startReportWorker } from '../../../app/reporting/report-job.ts';
import { sharedReportLocks } from '../../../app/reporting/send-report.ts';
import type { DesiredReport } from '../../../app/reconcile/report.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openDatabase, type Database } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue, type Queue } from '../../../src/kit/postgres/queue.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';
import { anIntent, commit } from '../an-intent.ts';

let postgres: TestPostgres;
let opened: Database<object>[];
let queue: Queue | undefined;

beforeEach(async () => {
  postgres = await startTestPostgres();
  opened = [];
});
afterEach(async () => {
  await queue?.stop();
  queue = undefined;
  for (const each of opened) await each.close();
  await postgres.stop();
});

const locks = () => {
  const database = openDatabase<object>({ url: postgres.url, max: reportsAtOnce });
  opened.push(database);
  return sharedReportLocks(database.pool);
};

/** A GitHub that has nothing, and takes what is written. */
const gitHubApi: GitHubApi = {
  head: async () => undefined,
  compare: async () => ({ kind: 'identical' }),
  file: async () => undefined,
  checksOf: async () => ({ seen: [] }),
  environmentProtection: async () => ({ kind: 'none' }),
  membershipOf: async () => 'other',
  peopleOf: async () => [],
  requiredChecks: async () => [],
  defaultBranch: async () => 'main',
  permissionOf: async () => 'none',
  writeCheck: async () => 1,
  makeDeployment: async () => 1,
  writeDeploymentStatus: async () => undefined,
  pullRequest: async () => undefined,
  writeComment: async () => 1,
  react: async () => undefined,
};

test('of two copies of the App one at a time sends a report', async () => {
  const [one, other] = [locks(), locks()];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { promise: started, resolve: begin } = Promise.withResolvers<void>();
  const first = one.exclusively('r1', async () => {
    begin();
    await promise;
    return 'first';
  });
  await started;
  expect(await other.exclusively('r1', async () => 'second')).toBeUndefined();
  expect(await other.exclusively('r2', async () => 'another')).toEqual({ value: 'another' });
  resolve();
  expect(await first).toEqual({ value: 'first' });
  expect(await other.exclusively('r1', async () => 'later')).toEqual({ value: 'later' });
});

test('releases the lock of a broken connection', async () => {
  const [one, other] = [locks(), locks()];
  const ended = one.exclusively('r1', async () => {
    const { rows } = await opened[1]!.pool.query<{ pid: number }>(
      "select pid from pg_locks where locktype = 'advisory' and classid = $1 and database = (select oid from pg_database where datname = current_database())",
      [0x6c_66_72],
    );
    await opened[1]!.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    return 'reported';
  });
  await expect(ended).rejects.toThrow(/connection|terminat/i);
  await expect.poll(() => other.exclusively('r1', async () => 'later')).toEqual({ value: 'later' });
  expect(await one.exclusively('r1', async () => 'again')).toEqual({ value: 'again' });
});

test('a rate-limited job is retried when the limit ends', async () => {
  queue = await openQueue({ url: postgres.url, log: silentLogger });
  const store = new MemoryStore({ now: () => systemClock.now() });
  const { repository } = anIntent('requested');
  const put: DesiredReport = {
    kind: 'check',
    repository,
    headSha: commit,
    name: 'Landfall',
    wanted: {
      kind: 'check',
      content: { status: 'completed', conclusion: 'neutral', title: 'Nothing to deploy', summary: 'Nothing.' },
    },
  };
  await store.putReport(put);
  const id = (await store.reportOf(repository.repositoryId, commit, 'Landfall'))?.id ?? '';
  const { promise: reported, resolve } = Promise.withResolvers<void>();
  const written: string[] = [];
  const githubApi: GitHubApi = {
    ...gitHubApi,
    writeCheck: async (at) => {
      written.push(at.externalId);
      if (written.length === 1) throw new InstallationPaused(7, systemClock.now() + 100, 'slow down');
      resolve();
      return 1;
    },
  };
  await startReportWorker(queue, {
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    store,
    githubApi,
    reportLocks: locks(),
  });
  await queue.send(reportJob, { id });
  await reported;
  expect(written).toEqual([id, id]);
});

/** A queue, and a store whose reports get their jobs there. */
async function openStore(): Promise<{ queue: Queue; store: PostgresStore }> {
  const opening = await openQueue({ url: postgres.url, log: silentLogger });
  queue = opening;
  const database = openDatabase<object>({ url: postgres.url, max: 1 });
  opened.push(database);
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
  return { queue: opening, store: new PostgresStore({ pool: database.pool, queue: opening, clock: systemClock }) };
}

const aCheck = (installationId: number, name: string, at = 1) =>
  checkReport(
    {
      repository: { ...anIntent('requested').repository, installationId, repositoryId: installationId },
      headSha: `${at}`.padStart(40, 'a'),
      name,
    },
    { status: 'completed', conclusion: 'neutral', title: 'Nothing to deploy', summary: 'Nothing.' },
  );

test('checks of pull requests keep none of another account waiting, and no deploy', async () => {
  const { queue: jobs, store } = await openStore();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const written: string[] = [];
  for (let at = 0; at < 12; at += 1) await store.putReport(aCheck(50, 'Landfall', at));
  await startReportWorker(jobs, {
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    store,
    githubApi: {
      ...gitHubApi,
      writeCheck: async ({ repository: { installationId }, name }) => {
        written.push(`${installationId} ${name}`);
        if (name === 'Landfall') await released;
        return written.length;
      },
    },
    reportLocks: locks(),
  });
  try {
    await expect.poll(() => written).toEqual(['50 Landfall']);
    await store.putReport(aCheck(51, 'Landfall'));
    await expect.poll(() => written).toEqual(['50 Landfall', '51 Landfall']);
    await store.putReport(aCheck(50, 'Landfall: echo'));
    await expect.poll(() => written).toContain('50 Landfall: echo');
    expect(written).toHaveLength(3);
  } finally {
    release();
  }
  await expect.poll(() => written.length).toBe(14);
});

test('a job that an earlier version stored waits in the group of its report', async () => {
  const { queue: jobs, store } = await openStore();
  const sent: object[] = [];
  await startReportWorker(
    { ...jobs, send: async (name, _, { group } = {}) => void sent.push({ name, group }) },
    {
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
      store,
      githubApi: {
        ...gitHubApi,
        writeCheck: async () => {
          throw new InstallationPaused(60, systemClock.now() + 60_000, 'slow down');
        },
      },
      reportLocks: locks(),
    },
  );
  await store.putReport(aCheck(60, 'Landfall'));
  const again = { name: 'report-of-commit', group: 'installation 60' };
  await expect.poll(() => sent).toEqual([again]);
  const report = await store.reportOf(60, '1'.padStart(40, 'a'), 'Landfall');
  await jobs.send(reportJob, { id: report?.id });
  await expect.poll(() => sent).toEqual([again, again]);
});

test('a report that GitHub refuses has one job, however often jobs are ensured', async () => {
  queue = await openQueue({ url: postgres.url, log: silentLogger });
  const database = openDatabase<object>({ url: postgres.url, max: 2 });
  opened.push(database);
  const { pool } = database;
  await queue.define(reportJob, { retryLimit: 0 });
  const given = { pool, queue, store: { report: async () => undefined } };
  const jobs = async () =>
    (
      await pool.query<{ about: string; state: string }>(
        `select data ->> 'id' as about, state::text from pgboss.job where name = $1 order by about`,
        [reportJob],
      )
    ).rows.map(({ about, state }) => `${about} ${state}`);
  await giveReportJobs(['one', 'other'], given);
  await giveReportJobs(['one', 'other', 'third'], given);
  expect(await jobs()).toEqual(['one created', 'other created', 'third created']);
  let refusals = 0;
  await queue.work<{ id: string }>(reportJob, { concurrency: 3, pollSeconds: 0.5 }, async ({ data: { id } }) => {
    if (id !== 'one') return;
    refusals += 1;
    throw new Error('GitHub answered 404');
  });
  const after = ['one failed', 'other completed', 'third completed'];
  await expect.poll(jobs).toEqual(after);
  await giveReportJobs(['one'], given);
  await expect.poll(() => refusals).toBe(2);
  await expect.poll(jobs).toEqual(after);
});
