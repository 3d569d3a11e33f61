import { loggerTo } from '../../../logger.ts';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { runInFolderQueue } from '../../../../src/services/control/builds/folder-queue.ts';
import { ages } from '../../../../src/services/control/retention/expired-builds.ts';
import {
  createRetention,
  type RetentionDependencies,
  inOneLine,
  removeShared,
  sharedFolders,
} from '../../../../src/services/control/retention/retention.ts';
import type { RevisionOfBuild } from '../../../../src/services/control/retention/expired-builds.ts';
import { tableOf, tableRows } from '../../../docs-tables.ts';
import { temporaryFolder } from '../builds/repositories.ts';
import { openTestStore } from '../store/open-store.ts';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

const day = 24 * 3_600_000;
const now = Date.now();

interface RetentionFixture {
  workDir: string;
  logged: string[];
  retention: ReturnType<typeof createRetention>;
  there: (path: string) => boolean;
  /** Puts a file below a folder of the data directory, last used so many days ago. */
  put: (path: string, days: number) => void;
}

const mirror = 'mirrors/t-1/m';
const entry = 'store/t-1/e';

function openFixture(
  changes: Partial<RetentionDependencies> = {},
  revisions: RevisionOfBuild[] = [],
): RetentionFixture {
  const workDir = temporaryFolder(atTheEnd);
  const logged: string[] = [];
  const retention = createRetention({
    store: {
      revisionsOfBuilds: async () => revisions,
      deleteOldLines: async () => 0,
      deleteOldRuns: async () => 0,
      deleteExpiredAccess: async () => undefined,
      deleteIdleSessions: async () => 0,
      deleteOldChanges: async () => 0,
      mergeOldFigures: async () => undefined,
      deleteOldFigures: async () => 0,
    },
    uploads: { removeOld: async () => 0 },
    workDir,
    clock: { now: () => now, sleep: () => new Promise(() => undefined) },
    log: loggerTo((message) => logged.push(message)),
    ...changes,
  });
  return {
    workDir,
    logged,
    retention,
    there: (path) => existsSync(join(workDir, path)),
    put(path, days) {
      const file = join(workDir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '{}');
      const used = new Date(now - days * day);
      for (const each of [file, dirname(file)]) utimesSync(each, used, used);
    },
  };
}

const revision = (id: string, status: RevisionOfBuild['status'], days: number, active: string): RevisionOfBuild => ({
  id,
  status,
  updated_at: new Date(now - days * day),
  build_folder: `builds/${id}`,
  deployment_id: 'd-1',
  active_revision_id: active,
});

test('removes long unused caches and incomplete entries, with one log line', async () => {
  const { retention, there, put, logged } = openFixture();
  put(`${mirror}-old/HEAD`, 15);
  put(`${mirror}-used/HEAD`, 13);
  put(`${entry}-old/entry.json`, 15);
  put(`${entry}-used/entry.json`, 13);
  put(`${entry}-half/node_modules`, 0);
  put('npm-cache/t-old/file', 15);
  put('npm-cache/t-used/file', 13);
  await retention.look();
  const left = [`${mirror}-used`, `${entry}-used`, 'npm-cache/t-used'];
  const gone = [`${mirror}-old`, `${entry}-old`, `${entry}-half`, 'npm-cache/t-old'];
  expect([left.map(there), gone.map(there)]).toEqual([left.map(() => true), gone.map(() => false)]);
  expect(logged).toEqual([
    'Removed by retention: 1 mirror of a repository, 2 sets of installed packages, 1 folder of downloads.',
  ]);
});

test('keeps an environment of Python as long as a build runs in it', async () => {
  const { retention, put, there, workDir } = openFixture();
  for (const name of ['needed', 'old']) put(`python/t-1/${name}/entry.json`, 15);
  put('python/t-1/new/entry.json', 1);
  mkdirSync(join(workDir, 'builds/r-1'), { recursive: true });
  writeFileSync(
    join(workDir, 'builds/r-1/build.json'),
    JSON.stringify({ commit: 'c', graphConfigPath: 'source/langgraph.json', python: 't-1/needed' }),
  );
  await retention.look();
  expect(['needed', 'old', 'new'].filter((name) => there(`python/t-1/${name}`))).toEqual(['needed', 'new']);
});

test('keeps what a build has used since it was found to be old', async () => {
  const { put, there, workDir } = openFixture();
  put('python/t-1/used/entry.json', 15);
  const [found] = await sharedFolders('packages', workDir, () => undefined);
  put('python/t-1/used/entry.json', 0);
  expect(found && (await removeShared(found, () => undefined))).toBe(false);
  expect(there('python/t-1/used')).toBe(true);
});

test('logs nothing if nothing is old', async () => {
  const { retention, logged } = openFixture();
  await retention.look();
  expect(logged).toEqual([]);
});

test('keeps what a build is using', async () => {
  const { retention, there, put, workDir } = openFixture();
  put(`${mirror}/HEAD`, 15);
  await runInFolderQueue(join(workDir, mirror), new AbortController().signal, () => retention.look());
  expect(there(mirror)).toBe(true);
});

test('removes old builds, and leaves unnamed ones for the next start', async () => {
  const failed = Array.from({ length: ages.builds.newest + 1 }, (_, n) => revision(`f${n}`, 'DEPLOY_FAILED', 2, 'r'));
  const { retention, there, put, logged } = openFixture({}, [revision('r', 'DEPLOYED', 90, 'r'), ...failed]);
  for (const id of ['r', ...failed.map((each) => each.id), 'unnamed']) put(`builds/${id}/build.json`, 90);
  await retention.look();
  expect(['r', 'f0', 'unnamed', `f${ages.builds.newest}`].map((id) => there(`builds/${id}`))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(logged).toEqual(['Removed by retention: 1 build.']);
});

test('removes downloads even if they have folders named like our own files', async () => {
  const { retention, there, put, logged } = openFixture();
  for (const name of ['HEAD', 'entry.json']) {
    put(`npm-cache/t-hostile/${name}/file`, 15);
    put('npm-cache/t-hostile/file', 15);
  }
  put('npm-cache/t-old/file', 15);
  await retention.look();
  expect(['npm-cache/t-hostile', 'npm-cache/t-old'].map(there)).toEqual([false, false]);
  expect(logged).toEqual(['Removed by retention: 2 folders of downloads.']);
});

test('removes downloads dated in the future like old ones', async () => {
  const { retention, there, put } = openFixture();
  put('npm-cache/t-ahead/file', -1_000);
  put('npm-cache/t-used/file', 0);
  await retention.look();
  expect(['npm-cache/t-ahead', 'npm-cache/t-used'].map(there)).toEqual([false, true]);
});

test('removes downloads nested deeper than the longest path', async () => {
  const { retention, there, put, logged, workDir } = openFixture();
  for (const name of ['a', 'b', 'c']) put(`npm-cache/${name}/file`, 15);
  const folder = join(workDir, 'npm-cache/b');
  const deep = 'd'.repeat(200);
  const script = `cd "${folder}" && i=0; while [ $i -lt 30 ]; do mkdir ${deep} && cd ${deep} || exit 1; i=$((i+1)); done`;
  execFileSync('/bin/bash', ['-c', script]);
  const used = new Date(now - 15 * day);
  utimesSync(folder, used, used);
  await retention.look();
  expect(['a', 'b', 'c'].map((name) => there(`npm-cache/${name}`))).toEqual([false, false, false]);
  expect(logged).toEqual(['Removed by retention: 3 folders of downloads.']);
});

test('a folder that can not be removed is reported, and its removal never rejects', async () => {
  const reports: string[] = [];
  const isGone = await removeShared({ path: 'no\0path', usedAt: 0 }, (message) => reports.push(message));
  expect([isGone, reports]).toEqual([false, [expect.stringContaining('could not be removed')]]);
});

test('a failure in one category does not stop the others', async () => {
  const removeOld = async (): Promise<number> => {
    throw new Error('no database');
  };
  const { retention, logged, put } = openFixture({ uploads: { removeOld } });
  put('npm-cache/t-old/file', 15);
  await retention.look();
  expect(logged).toEqual([
    'Old uploads could not be removed: no database',
    'Removed by retention: 1 folder of downloads.',
  ]);
});

test.each<[string, number, string[]]>([
  ['removes nothing if there is enough space', 0, []],
  ['removes downloads first', 1, ['npm-cache/t-1']],
  ['then packages', 2, ['npm-cache/t-1', entry]],
  ['then mirrors', 3, ['npm-cache/t-1', entry, mirror]],
  ['then unneeded builds', 4, ['npm-cache/t-1', entry, mirror, 'builds/f1']],
])('when the disk is short: %s', async (_, looksUntilEnough, gone) => {
  let looks = 0;
  const freeSpace = async (): Promise<number> => ((looks += 1) > looksUntilEnough ? 100 : 0);
  const revisions = [revision('r', 'DEPLOYED', 0, 'r'), revision('f1', 'DEPLOY_FAILED', 0, 'r')];
  const { retention, there, put, logged } = openFixture({ freeSpace }, revisions);
  for (const path of ['npm-cache/t-1/file', `${entry}/entry.json`, `${mirror}/HEAD`]) put(path, 1);
  for (const path of ['npm-cache/t-2/file', 'builds/r/build.json', 'builds/f1/build.json']) put(path, 0);
  await retention.makeRoom(100);
  const all = ['npm-cache/t-1', entry, mirror, 'builds/f1', 'npm-cache/t-2', 'builds/r'];
  expect(all.filter((path) => !there(path))).toEqual(gone);
  expect(logged.length).toBe(gone.length === 0 ? 0 : 1);
});

test('expires log and audit lines by age, except those of a live revision', async () => {
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const opened = await openTestStore(clock);
  const { store } = opened;
  atTheEnd.push(() => opened.close());
  const tenantId = await store.addTenant('one');
  const revisionOf = async (name: string): Promise<[string, string]> => {
    const created = await store.createDeployment(tenantId, {
      name,
      source: 'github',
      source_config: { repo_url: 'https://git.example/a.git' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
      secret_references: null,
    });
    if (created.kind !== 'created') throw new Error(created.kind);
    return [created.deployment.id, created.latest.id];
  };
  const [deployment, live] = await revisionOf('live');
  const [, other] = await revisionOf('other');
  await store.claimNextRevision(deployment);
  await store.setStatus(live, ['AWAITING_BUILD'], 'BUILDING');
  await store.setStatus(live, ['BUILDING'], 'AWAITING_DEPLOY', { buildFolder: 'builds/live' });
  await store.setStatus(live, ['AWAITING_DEPLOY'], 'DEPLOYING');
  await store.activate(deployment, live);
  for (const id of [live, other]) {
    await store.appendLog(id, 'build', [
      { level: 'info', message: 'old', at: now - ages.logs.ms - 1 },
      { level: 'info', message: 'new', at: now - ages.logs.ms + 1_000 },
    ]);
  }
  const { retention, logged } = openFixture({ store, clock });
  await retention.look();
  const linesOf = async (id: string): Promise<string[]> =>
    (await store.readLog([id], 'build', { order: 'asc', limit: 10 })).map(({ message }) => message);
  expect([await linesOf(live), await linesOf(other)]).toEqual([['old', 'new'], ['new']]);
  expect(logged).toEqual(['Removed by retention: 1 line of logs.']);
  const named = await store.revisionsOfBuilds(['builds/live', 'builds/none']);
  expect(named).toMatchObject([{ id: live, deployment_id: deployment, active_revision_id: live, status: 'DEPLOYED' }]);
});

test('every category with an age is checked', async () => {
  const requested: string[] = [];
  const requests = (kind: string) => async (): Promise<number> => {
    requested.push(kind);
    return 1;
  };
  const store: RetentionDependencies['store'] = {
    revisionsOfBuilds: async () => {
      requested.push('builds');
      return [];
    },
    deleteOldLines: requests('logs'),
    deleteOldRuns: requests('runs'),
    deleteExpiredAccess: async () => undefined,
    deleteIdleSessions: requests('sessions'),
    deleteOldChanges: requests('changes'),
    mergeOldFigures: async () => undefined,
    deleteOldFigures: requests('health'),
  };
  const { retention, logged, put } = openFixture({ store, uploads: { removeOld: requests('uploads') } });
  for (const file of [`${mirror}/HEAD`, `${entry}/entry.json`, 'npm-cache/t-1/file']) put(file, 15);
  await retention.look();
  expect(requested.toSorted()).toEqual(['builds', 'changes', 'health', 'logs', 'runs', 'sessions', 'uploads']);
  const everyKind = Object.fromEntries(Object.keys(ages).map((kind) => [kind, kind === 'builds' ? 0 : 1]));
  expect(logged).toEqual([`Removed by retention: ${inOneLine(everyKind)}.`]);
});

test('removes runs of tracing projects 90 days after they ended', async () => {
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const opened = await openTestStore(clock);
  const { store } = opened;
  atTheEnd.push(() => opened.close());
  const project = await store.addTracingProject(await store.addTenant('one'), 'agent');
  const runOf = (days: number): TracedRun => ({
    id: randomUUID(),
    thread_id: null,
    assistant_id: 'helper',
    graph_id: 'agent',
    revision_id: null,
    status: 'success',
    error: null,
    tokens: null,
    created_at: new Date(now - (days + 1) * day).toISOString(),
    started_at: null,
    ended_at: new Date(now - days * day).toISOString(),
  });
  const [old, young] = [runOf(91), runOf(89)];
  await store.putTracedRuns(project, [old, young]);
  const { retention, logged } = openFixture({ store, clock });
  await retention.look();
  expect((await store.listTracedRuns(project, {})).map(({ id }) => id)).toEqual([young.id]);
  expect(logged).toEqual(['Removed by retention: 1 run of a tracing project.']);
});

test('describes what was removed', () => {
  expect(inOneLine({ builds: 2, logs: 1, mirrors: 0 })).toBe('2 builds, 1 line of logs');
  expect(inOneLine({ builds: 0 })).toBeUndefined();
});

test('the design note has the retention times', () => {
  const page = 'docs/design/retention-and-data-folder.md';
  expect(tableOf(page, 'what', 'kept', 'removed')).toEqual(tableRows(agesInWords.join('\n')).slice(1));
});

const days = (ms: number): string => `${ms / day} ${ms === day ? 'day' : 'days'}`;

/** The table of docs/design/retention-and-data-folder.md. */
const agesInWords: readonly string[] = [
  '| what | kept | removed |',
  '|---|---|---|',
  `| builds | those of revisions that are live or in progress, of the last ${ages.builds.live} that were live, and the ${ages.builds.newest} newest others | after ${days(ages.builds.ms)}; of more than ${ages.builds.most} the oldest at once |`,
  `| log lines | those of live revisions | after ${days(ages.logs.ms)} |`,
  `| uploaded tarballs | those of revisions that are live or in progress | after ${days(ages.uploads.ms)} |`,
  `| mirrors of repositories | | ${days(ages.mirrors.ms)} after the last build that used them |`,
  `| installed packages | | ${days(ages.packages.ms)} after the last build that used them |`,
  `| downloads of package managers | | ${days(ages.downloads.ms)} after the last build that used them |`,
  `| runs of tracing projects | | ${days(ages.runs.ms)} after they ended |`,
  `| sessions of browsers | | ${ages.sessions.ms / 3_600_000} hours after the last request |`,
  `| health figures | by the minute for ${ages.health.minutesMs / 3_600_000} hours, then by the quarter of an hour | after ${days(ages.health.ms)} |`,
  `| the audit log | | after ${days(ages.changes.ms)} |`,
];
