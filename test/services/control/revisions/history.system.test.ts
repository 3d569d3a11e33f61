import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import {
  fromGit,
  fromImage,
  openServiceFixture,
  refusalOf,
  unknownId,
  type ServiceFixture,
} from '../service-fixture.ts';

let fixture: ServiceFixture;
/** The packages of builds in Python. */
const kept = new Map<string, string>();
beforeAll(async () => {
  fixture = await openServiceFixture({ pythonPackages: (build) => kept.get(build) });
});
afterAll(() => fixture.close());

const historyOf = async (id: string, query: object = {}) =>
  (await fixture.control.listRevisionHistory(id, query)).resources;

async function created(request: object = fromGit()): Promise<[id: string, revision: string]> {
  const { id, latest_revision_id } = await fixture.control.createDeployment(request);
  await fixture.rollouts.settled();
  return [id, latest_revision_id ?? ''];
}
const latest = async (change: Promise<{ latest_revision_id: string | null }>): Promise<string> => {
  const { latest_revision_id } = await change;
  await fixture.rollouts.settled();
  return latest_revision_id ?? '';
};

describe('the history of revisions', () => {
  test('has the cause, the changed fields and the standing of each', async () => {
    const [id, first] = await created(fromGit({ secrets: [{ name: 'OLD', value: 'canary-1' }] }));
    const patch = { secrets: [{ name: 'MODEL_KEY', value: 'canary-2' }] };
    const second = await latest(fixture.control.patchDeployment(id, patch));
    const again = await latest(fixture.control.redeployRevision(id, second));
    fixture.rollouts.fate = 'build fails';
    const failed = (await fixture.control.createRevision(id, {})).id;
    await fixture.rollouts.settled();
    fixture.rollouts.fate = 'live';
    const back = await latest(fixture.control.redeployRevision(id, first));
    const head = { id, ref: 'main', head: 'b'.repeat(40), latestRevisionId: back, buildOnPush: false, build: true };
    expect(await fixture.store.pushes.recordPush(head)).toBe(true);

    const history = await historyOf(id);
    const swapped = ['secrets.MODEL_KEY', 'secrets.OLD'];
    const shown = history.map(({ revision, cause, changed_fields, is_live, can_redeploy }) => [
      revision.id,
      cause.kind,
      cause.redeploy_of,
      changed_fields,
      is_live,
      can_redeploy,
    ]);
    expect(shown).toEqual([
      [expect.any(String), 'push', null, [], false, false],
      [back, 'rollback', first, swapped, true, true],
      [failed, 'patch', null, [], false, false],
      [again, 'redeploy', second, [], false, true],
      [second, 'patch', null, swapped, false, true],
      [first, 'create', null, [], false, true],
    ]);
    const key = { actor: 'key', key_id: readApiKey(fixture.apiKey)?.id, key_name: 'unnamed' };
    expect(history[0]?.cause).toMatchObject({ actor: 'service', key_id: null, key_name: null });
    for (const { cause } of history.slice(1)) expect(cause).toMatchObject(key);
    expect(JSON.stringify(history)).not.toContain('canary');
  });

  test('has the commit, the statuses with their times and the latest verdict', async () => {
    const [id, first] = await created();
    const sha = 'c'.repeat(40);
    const authoredAt = new Date('2026-03-01T08:00:00Z');
    await fixture.store.noteCommit(first, { sha, subject: '<b>Fix</b>', author: 'A. Person', authoredAt });
    const report = { reporter: 'action', tests: [] };
    await fixture.control.reportVerdict(id, first, { ...report, kind: 'failed' });
    const verdict = await fixture.control.reportVerdict(id, first, { ...report, kind: 'passed' });
    const second = await latest(fixture.control.redeployRevision(id, first));
    const commit = { sha, subject: '<b>Fix</b>', author: 'A. Person', authored_at: '2026-03-01T08:00:00.000Z' };
    const [newer, older] = await historyOf(id);
    expect(newer).toMatchObject({ revision: { id: second }, commit, verdict: null });
    expect(older).toMatchObject({ revision: { id: first }, commit, verdict });
    expect(older?.statuses.map(({ status }) => status)).toEqual([
      'CREATING',
      'AWAITING_BUILD',
      'BUILDING',
      'AWAITING_DEPLOY',
      'DEPLOYING',
      'DEPLOYED',
    ]);
    const times = older?.statuses.map(({ at }) => Date.parse(at)) ?? [];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('is read by pages, or of one revision', async () => {
    const [id] = await created();
    const second = await latest(fixture.control.patchDeployment(id, { secrets: [{ name: 'A', value: '1' }] }));
    await latest(fixture.control.patchDeployment(id, { secrets: [] }));
    const all = await historyOf(id);
    const page = await fixture.control.listRevisionHistory(id, { limit: 1, offset: 1 });
    expect(page).toEqual({ resources: all.slice(1, 2), offset: 2 });
    expect(page.resources[0]).toMatchObject({ revision: { id: second }, changed_fields: ['secrets.A'] });
    expect(await historyOf(id, { revision_id: second })).toEqual(all.slice(1, 2));
    expect(await historyOf(id, { revision_id: second, offset: 1 })).toEqual([]);
    expect(await historyOf(id, { revision_id: unknownId() })).toEqual([]);
    expect(await refusalOf(fixture.control.listRevisionHistory(id, { revision_id: 'x' }))).toMatchObject({
      status: 422,
      at: ['query.revision_id'],
    });
  });

  test('has no commit of an image, which can be deployed again as long as it is named', async () => {
    const [id] = await created(fromImage());
    expect(await historyOf(id)).toMatchObject([{ commit: null, can_redeploy: true, is_live: false }]);
  });

  test('spells its revisions as requested', async () => {
    const [id] = await created();
    const response = await fetch(`${fixture.baseUrl}/v2/deployments/${id}/revision-history`, {
      headers: { 'x-api-key': fixture.apiKey, 'x-field-names': 'public' },
    });
    const text = await response.text();
    expect(text).toContain('"langgraph_config_path":"graph.json"');
    expect(text).not.toContain('"graph_config_path"');
  });
});

test('lists the packages of the build of a revision, also where another one uses it', async () => {
  const [id, first] = await created();
  const none = { python: null, packages: [] };
  expect(await fixture.control.listRevisionPackages(id, first)).toEqual(none);
  kept.set(first, '# Python 3.11.2\nlanggraph==1.2.24\n');
  const packages = { python: '3.11.2', packages: [{ name: 'langgraph', version: '1.2.24', address: null }] };
  expect(await fixture.control.listRevisionPackages(id, first)).toEqual(packages);
  const again = await latest(fixture.control.redeployRevision(id, first));
  expect(await fixture.control.listRevisionPackages(id, again)).toEqual(packages);
  expect(await refusalOf(fixture.control.listRevisionPackages(id, unknownId()))).toMatchObject({ status: 404 });
});
