import { afterAll, beforeAll, expect, test } from 'vitest';
import { pendingFigures } from '../../../../src/services/control/health/figures.ts';
import {
  fromGit,
  fromImage,
  fromUpload,
  openServiceFixture,
  refusalOf,
  type ServiceFixture,
} from '../service-fixture.ts';

let fixture: ServiceFixture;
const ids: Record<string, string> = {};
beforeAll(async () => {
  fixture = await openServiceFixture();
  const make = async (name: string, request: (changes: Record<string, unknown>) => object = fromGit) => {
    ids[name] = (await fixture.control.createDeployment(request({ name }))).id;
    await fixture.rollouts.settled();
  };
  await make('b-live');
  await make('a-image', (changes) =>
    fromImage({ ...changes, source_config: { custom_url: 'https://own.example.com' } }),
  );
  fixture.rollouts.fate = 'held';
  await make('c-deploying');
  await make('d-folder', fromUpload);
});
afterAll(() => fixture.close());

const idOf = (name: string): string => ids[name] ?? '';
const names = async (query: object) => {
  const { resources, total, offset } = await fixture.control.listDeploymentSummaries(query);
  return [resources.map(({ name, state }) => [name, state]), total, offset];
};
const all = [
  ['a-image', 'failed'],
  ['b-live', 'live'],
  ['c-deploying', 'deploying'],
  ['d-folder', 'no-source'],
];

test('lists deployments by name with their states, by pages and filters', async () => {
  expect(await names({})).toEqual([all, 4, 4]);
  expect(await names({ limit: 1, offset: 1 })).toEqual([[all[1]], 4, 2]);
  expect(await names({ name_contains: '-l' })).toEqual([[all[1]], 1, 1]);
  expect(await names({ state: 'deploying' })).toEqual([[all[2]], 1, 1]);
  expect(await names({ state: 'no-source' })).toEqual([[all[3]], 1, 1]);
  expect(await names({ state: 'deleting' })).toEqual([[], 0, 0]);
  expect((await fixture.stranger.listDeploymentSummaries({})).total).toBe(0);
  expect(await refusalOf(fixture.control.listDeploymentSummaries({ state: 'READY' }))).toMatchObject({
    status: 422,
    at: ['query.state'],
  });
  expect(await refusalOf(fixture.control.listDeploymentSummaries({ limit: 1_001 }))).toMatchObject({ status: 422 });
});

test('has the live commit, the last change and the latest verdict', async () => {
  const id = idOf('b-live');
  const { active_revision_id: live } = await fixture.control.getDeployment(id);
  const report = { reporter: 'cli', tests: [] };
  await fixture.control.reportVerdict(id, live ?? '', { ...report, kind: 'passed' });
  const next = await fixture.control.createRevision(id, {});
  await fixture.control.reportVerdict(id, next.id, { ...report, kind: 'unproven' });
  await fixture.control.reportVerdict(id, live ?? '', { ...report, kind: 'failed' });
  const now = Date.parse(next.created_at ?? '');
  const pending = pendingFigures();
  Object.assign(pending.of(id, now, now), { requests: 2, errors: 1, runs: 5, failed_runs: 4 });
  await fixture.store.addFigures(pending.rows());
  const { resources } = await fixture.control.listDeploymentSummaries({ name_contains: 'b-live' });
  const none = Array.from({ length: 29 }, () => 0);
  expect(resources).toEqual([
    {
      id,
      name: 'b-live',
      source: 'github',
      state: 'deploying',
      url: `${fixture.baseUrl}/agents/${id}`,
      latest_revision_id: next.id,
      active_revision_id: live,
      live_commit: { sha: fixture.rollouts.head, subject: null, author: null, authored_at: null },
      last_change: {
        at: expect.stringMatching(/^20.*Z$/),
        actor: 'key',
        key_name: 'unnamed',
        operation: 'create revision',
      },
      verdict: 'unproven',
      activity: {
        step_seconds: 120,
        requests: [...none, 2],
        errors: [...none, 1],
        runs: [...none, 5],
        failed_runs: [...none, 4],
      },
    },
  ]);
});

test('has null for what a deployment lacks', async () => {
  const { resources } = await fixture.control.listDeploymentSummaries({ name_contains: 'a-image' });
  expect(resources).toMatchObject([
    { url: 'https://own.example.com', active_revision_id: null, live_commit: null, verdict: null },
  ]);
});

test('sorts by failed runs, also those of crons, which no request started', async () => {
  const { created_at } = await fixture.control.getDeployment(idOf('b-live'));
  const now = Date.parse(created_at ?? '');
  const pending = pendingFigures();
  Object.assign(pending.of(idOf('c-deploying'), now, now), { runs: 9, failed_runs: 9 });
  Object.assign(pending.of(idOf('a-image'), now, now), { requests: 9, runs: 9 });
  await fixture.store.addFigures(pending.rows());
  const failed = (await fixture.control.listDeploymentSummaries({ sort: 'failed_runs' })).resources;
  expect(failed.map(({ name }) => name)).toEqual(['c-deploying', 'b-live', 'a-image', 'd-folder']);
  expect(failed[0]?.activity.failed_runs.at(-1)).toBe(9);
  expect(await names({ sort: 'failed_runs', limit: 1, offset: 3 })).toEqual([[all[3]], 4, 4]);
  const busiest = (await fixture.control.listDeploymentSummaries({ sort: 'requests' })).resources;
  expect(busiest[0]?.name).toBe('a-image');
  expect(await refusalOf(fixture.control.listDeploymentSummaries({ sort: 'size' }))).toMatchObject({
    status: 422,
    at: ['query.sort'],
  });
});
