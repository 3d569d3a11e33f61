import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { health } from '../../../../src/contract/control/health.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { observe, pendingFigures } from '../../../../src/services/control/health/figures.ts';
import { createControlService, type OurControlService } from '../../../../src/services/control/service.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { instantRollouts, type InstantRollouts } from '../instant-rollouts.ts';
import { fromGit, refusalOf, unknownId } from '../service-fixture.ts';
import { openTestStore, type TestStore } from '../store/open-store.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2030, 0, 31, 12, 0, 30);
let now = start;
const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };

let opened: TestStore;
let rollouts: InstantRollouts;
let control: OurControlService;
let stranger: OurControlService;
const at = (ms: number): string => new Date(ms).toISOString();

beforeAll(async () => {
  opened = await openTestStore(clock);
  const { store } = opened;
  rollouts = instantRollouts(store);
  const serviceFor = async (tenant: string) => {
    const tenantId = await store.addTenant(tenant);
    return createControlService({ store, rollouts, clock, tenantId, baseUrl: () => 'http://here', allowGit: [] });
  };
  control = await serviceFor('one');
  stranger = await serviceFor('two');
});
afterAll(async () => {
  await rollouts.settled();
  await opened.close();
});

async function aDeployment(): Promise<{ id: string; projectId: string; revisionId: string }> {
  const { id, tracer_session_id, latest_revision_id } = await control.createDeployment(fromGit());
  return { id, projectId: tracer_session_id ?? '', revisionId: latest_revision_id ?? '' };
}

const run = (changes: Partial<TracedRun> = {}): TracedRun => ({
  id: randomUUID(),
  thread_id: null,
  assistant_id: 'helper',
  graph_id: 'agent',
  revision_id: null,
  status: 'success',
  error: null,
  tokens: null,
  created_at: at(now - 3_000),
  started_at: at(now - 2_000),
  ended_at: at(now),
  ...changes,
});

/** Stores requests of a deployment, as the gateway's recorder does. */
async function addRequests(id: string, times: readonly number[], isFailure = false): Promise<void> {
  const pending = pendingFigures();
  for (const time of times) {
    const figures = pending.of(id, time, time);
    figures.requests += 1;
    if (isFailure) figures.errors += 1;
    observe(figures.first_events, 100);
    figures.memory_bytes = Math.max(figures.memory_bytes ?? 0, time % 1_000_000);
    figures.cpu_ms += 500;
    figures.sampled_ms += 1_000;
  }
  await opened.store.addFigures(pending.rows());
}

async function totalsOf(id: string, from: number) {
  const { points } = health.parse(await control.deploymentHealth(id, { from: at(from) }));
  const sum = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((all, each) => all + of(each), 0);
  const first = points.filter((point) => point.first_event_p50_ms !== null);
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    runs: sum(({ runs }) => runs),
    memory: Math.max(...points.map(({ memory_bytes }) => memory_bytes ?? 0)),
    cpu: new Set(points.flatMap(({ cpu }) => cpu ?? [])),
    firstEvents: new Set(first.map((point) => point.first_event_p50_ms)),
  };
}

test('runs count once, however often they are reported, and revisions that went live are listed', async () => {
  const { id, projectId, revisionId } = await aDeployment();
  const [well, failed] = [run(), run({ status: 'error', ended_at: at(now - 90_000), started_at: null })];
  await Promise.all([
    opened.store.putTracedRuns(projectId, [well, failed]),
    opened.store.putTracedRuns(projectId, [well, failed, well]),
  ]);
  expect(await opened.store.putTracedRuns(projectId, [well, run({ status: 'interrupted' })])).toBe(1);
  await rollouts.settled();
  const read = health.parse(await control.deploymentHealth(id, {}));
  expect([read.step_seconds, read.points.length]).toEqual([60, 61]);
  expect(read.points.at(-1)).toMatchObject({ at: at(start - 30_000), runs: 2, failed_runs: 0, interrupted_runs: 1 });
  expect(read.points.at(-2)).toMatchObject({ runs: 1, failed_runs: 1, interrupted_runs: 0, run_p50_ms: null });
  expect(Math.abs((read.points.at(-1)?.run_p95_ms ?? 0) - 2_000)).toBeLessThan(200);
  expect(read.deploys).toEqual([{ revision_id: revisionId, at: at(now) }]);
});

test('runs and their figures are stored together or not at all', async () => {
  const { id, projectId } = await aDeployment();
  const database = openDatabase<ControlTables>({ url: opened.url });
  await sql`alter table control.health_figures rename to away`.execute(database.db);
  await expect(opened.store.putTracedRuns(projectId, [run()])).rejects.toThrow('health_figures');
  await sql`alter table control.away rename to health_figures`.execute(database.db);
  await database.close();
  expect(await totalsOf(id, now - hour)).toMatchObject({ runs: 0 });
  expect(await opened.store.listTracedRuns(projectId, {})).toEqual([]);
});

test('figures of a deleted deployment are left out, and the others stored', async () => {
  const { id } = await aDeployment();
  const pending = pendingFigures();
  for (const each of [unknownId(), id]) pending.of(each, now, now).requests += 1;
  await opened.store.addFigures(pending.rows());
  expect(await totalsOf(id, now - hour)).toMatchObject({ requests: 1 });
});

test('concurrent additions in any order lose nothing', async () => {
  const { id } = await aDeployment();
  const { id: other } = await aDeployment();
  const times = [now, now - minute, now - 30 * hour, now - 29 * hour];
  const all = Array.from({ length: 12 }, async (_, turn) => {
    const pending = pendingFigures();
    const ids = turn % 2 === 0 ? [id, other] : [other, id];
    for (const each of ids) {
      for (const time of turn % 3 === 0 ? times.toReversed() : times) pending.of(each, time, now).requests += 1;
    }
    await opened.store.addFigures(pending.rows());
    if (turn % 4 === 0) await opened.store.mergeOldFigures();
  });
  await Promise.all(all);
  expect(await totalsOf(id, now - 2 * day)).toMatchObject({ requests: 48 });
  expect(await totalsOf(other, now - 2 * day)).toMatchObject({ requests: 48 });
});

test('retention merges old minutes without changing sums, and keeps a bounded number of rows', async () => {
  const { id } = await aDeployment();
  // One request in each minute of three days, and of one beyond what is kept.
  const minutes = (from: number, count: number) => Array.from({ length: count }, (_, each) => from + each * minute);
  await addRequests(id, minutes(now - 3 * day, 3 * 1_440));
  await addRequests(id, minutes(now - 2 * day, 60), true);
  await addRequests(id, minutes(now - 31 * day - hour, 45));
  const before = await totalsOf(id, now - 30 * day);
  expect(before).toMatchObject({ requests: 3 * 1_440 + 60, errors: 60, cpu: new Set([0.5]) });
  expect(before.firstEvents.size).toBe(1);
  await opened.store.mergeOldFigures();
  expect(await opened.store.deleteOldFigures(31 * day)).toBe(3);
  expect(await totalsOf(id, now - 30 * day)).toEqual(before);
  // A late one for a minute that is merged.
  await addRequests(id, [now - 3 * day]);
  await opened.store.mergeOldFigures();
  await opened.store.mergeOldFigures();
  expect(await totalsOf(id, now - 30 * day)).toEqual({ ...before, requests: before.requests + 1 });
  const range = { from: now - 32 * day, until: now + minute, stepSeconds: 60 };
  const rows = await opened.store.readHealth(id, range);
  expect(rows.length).toBeLessThan(26 * 60 + 15 + (46 * 60) / 15 + 2);
});

test('the activity of the last hour of many deployments', async () => {
  const [{ id: busy }, { id: idle }] = [await aDeployment(), await aDeployment()];
  await addRequests(busy, [now, now, now - 2 * minute, now - 58 * minute, now - 61 * minute]);
  await addRequests(busy, [now], true);
  await addRequests(idle, []);
  const activity = await opened.store.recentActivity([busy, idle]);
  const none = Array.from({ length: 28 }, () => 0);
  expect(activity.get(busy)).toEqual({
    step_seconds: 120,
    requests: [1, ...none.slice(1), 1, 3],
    errors: [...none, 0, 1],
    runs: [...none, 0, 0],
    failed_runs: [...none, 0, 0],
  });
  const nothing = [...none, 0, 0];
  expect(activity.get(idle)).toEqual({
    step_seconds: 120,
    requests: nothing,
    errors: nothing,
    runs: nothing,
    failed_runs: nothing,
  });
  expect(await opened.store.recentActivity([])).toEqual(new Map());
});

test('refuses what it can not read, and other tenants', async () => {
  const { id } = await aDeployment();
  expect(await refusalOf(stranger.deploymentHealth(id, {}))).toMatchObject({ status: 404 });
  expect(await refusalOf(control.deploymentHealth(id, { from: 'yesterday' }))).toMatchObject({ status: 422 });
  expect(await refusalOf(control.deploymentHealth(id, { from: at(now), until: at(now - 1) }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('The range is empty.'),
  });
  const late = { from: at(now - hour), until: '9999-12-31T23:59:59Z' };
  expect((await control.deploymentHealth(id, late)).points.length).toBe(61);
});
