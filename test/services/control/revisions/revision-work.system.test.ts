import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewDeployment } from '../../../../src/services/control/store/records.ts';
import { openTestStore } from '../store/open-store.ts';
import type { TestStore } from '../store/open-store.ts';

let opened: TestStore;
let tenantId: string;
beforeAll(async () => {
  opened = await openTestStore();
  tenantId = await opened.store.addTenant('one');
});
afterAll(() => opened.close());

let count = 0;
const requested = (): NewDeployment => ({
  name: `agent-${(count += 1)}`,
  source: 'github',
  source_config: { repo_url: 'https://example.com/a.git' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
  secrets: [{ name: 'TOKEN', value: 'secret-value' }],
  secret_references: null,
});

async function makeDeployment(): Promise<{ id: string; first: string }> {
  const made = await opened.store.createDeployment(tenantId, requested());
  if (made.kind !== 'created') throw new Error(made.kind);
  return { id: made.deployment.id, first: made.latest.id };
}

async function makeRevision(id: string): Promise<string> {
  const changed = await opened.store.changeDeployment(tenantId, id, (wanted) => ({ wanted, revision: 'new' }));
  if (changed?.kind !== 'changed') throw new Error('not changed');
  return changed.latest.id;
}

const statusOf = async (id: string, revision: string) => (await opened.store.findRevision(id, revision))?.status;

describe('claiming revisions', () => {
  test('claims the newest waiting one; the older ones end SKIPPED', async () => {
    const { id, first } = await makeDeployment();
    const second = await makeRevision(id);
    const third = await makeRevision(id);
    expect(await opened.store.claimNextRevision(id)).toMatchObject({ id: third, status: 'AWAITING_BUILD' });
    expect(await statusOf(id, first)).toBe('SKIPPED');
    expect(await opened.store.findRevision(id, second)).toMatchObject({
      status: 'SKIPPED',
      status_message: expect.stringContaining(third),
    });
  });

  test('while one runs the others are QUEUED, and the newest of them is next', async () => {
    const { id, first } = await makeDeployment();
    await opened.store.claimNextRevision(id);
    const second = await makeRevision(id);
    const third = await makeRevision(id);
    expect(await opened.store.claimNextRevision(id)).toBeUndefined();
    expect([await statusOf(id, first), await statusOf(id, second), await statusOf(id, third)]).toEqual([
      'AWAITING_BUILD',
      'QUEUED',
      'QUEUED',
    ]);
    await opened.store.setStatus(first, ['AWAITING_BUILD'], 'BUILD_FAILED', { message: 'no lock file' });
    expect(await opened.store.claimNextRevision(id)).toMatchObject({ id: third });
    expect(await statusOf(id, second)).toBe('SKIPPED');
  });

  test('only one of many concurrent claims succeeds', async () => {
    const { id, first } = await makeDeployment();
    const taken = await Promise.all(Array.from({ length: 8 }, () => opened.store.claimNextRevision(id)));
    expect(taken.flatMap((revision) => revision?.id ?? [])).toEqual([first]);
  });

  test('a revision that already has a build is only deployed', async () => {
    const { id, first } = await makeDeployment();
    await opened.store.claimNextRevision(id);
    await opened.store.setStatus(first, ['AWAITING_BUILD'], 'INTERRUPTED');
    const commit = {
      repo_commit_sha: 'c0ffee',
      commit_subject: 'a',
      commit_author: 'b',
      commit_authored_at: new Date(0),
    };
    const built = {
      build_folder: 'builds/one',
      build_warnings: ['It lacks a file.'],
      build_of: null,
      build_digest: null,
    };
    const build = { redeploy_of: first, ...built, ...commit };
    await opened.store.changeDeployment(tenantId, id, (wanted) => ({ wanted, revision: build }));
    expect(await opened.store.claimNextRevision(id)).toMatchObject({ status: 'AWAITING_DEPLOY', ...build });
  });
});

describe('going live', () => {
  test('activation marks the revision DEPLOYED and active atomically', async () => {
    const { id, first } = await makeDeployment();
    await opened.store.claimNextRevision(id);
    await opened.store.setStatus(first, ['AWAITING_BUILD'], 'BUILDING', { commit: 'abc' });
    await opened.store.setStatus(first, ['BUILDING'], 'AWAITING_DEPLOY', { buildFolder: 'builds/x' });
    await opened.store.setStatus(first, ['AWAITING_DEPLOY'], 'DEPLOYING');
    await opened.store.setDatabaseState(id, 'ready');
    expect(await opened.store.activate(id, first)).toBe(true);
    const found = await opened.store.findDeployment(tenantId, id);
    expect(found?.deployment).toMatchObject({ active_revision_id: first, status: 'READY' });
    expect(found?.latest).toMatchObject({ status: 'DEPLOYED', repo_commit_sha: 'abc', build_folder: 'builds/x' });
    const events = await opened.store.eventsOf(first);
    expect(events.map(({ status }) => status)).toEqual([
      'CREATING',
      'AWAITING_BUILD',
      'BUILDING',
      'AWAITING_DEPLOY',
      'DEPLOYING',
      'DEPLOYED',
    ]);
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime()));
    expect(await opened.store.activeRevisions()).toMatchObject([{ deployment: { id }, revision: { id: first } }]);
  });

  test('an interrupted revision cannot go live', async () => {
    const { id, first } = await makeDeployment();
    await opened.store.claimNextRevision(id);
    await opened.store.setStatus(first, ['AWAITING_BUILD'], 'INTERRUPTED');
    expect(await opened.store.activate(id, first)).toBe(false);
    expect(await opened.store.setStatus(first, ['BUILDING'], 'BUILD_FAILED')).toBeUndefined();
    expect(await statusOf(id, first)).toBe('INTERRUPTED');
  });

  test('rejects a step that the state machine does not have', async () => {
    const { first } = await makeDeployment();
    await expect(opened.store.setStatus(first, ['CREATING'], 'DEPLOYING')).rejects.toThrow(
      'from CREATING to DEPLOYING',
    );
  });

  test('a deployment without a database is UNUSED once no revision is pending', async () => {
    const { id, first } = await makeDeployment();
    const status = async () => (await opened.store.deployment(id))?.status;
    expect(await status()).toBe('AWAITING_DATABASE');
    await opened.store.setStatus(first, ['CREATING'], 'INTERRUPTED');
    expect(await status()).toBe('UNUSED');
    await makeRevision(id);
    expect(await status()).toBe('AWAITING_DATABASE');
    await opened.store.setDatabaseState(id, 'unreachable');
    expect(await status()).toBe('UNKNOWN');
  });
});

test('returns what a start has to resume', async () => {
  const { id, first } = await makeDeployment();
  expect(await opened.store.deploymentsWithWork()).toContain(id);
  await opened.store.setStatus(first, ['CREATING'], 'INTERRUPTED');
  expect(await opened.store.deploymentsWithWork()).not.toContain(id);
});

test('returns log lines in order, without characters that Postgres rejects', async () => {
  const { first } = await makeDeployment();
  await opened.store.appendLog(first, 'build', [
    { level: 'info', message: 'one\n' },
    { level: 'error', message: 'two\0 \ud800' },
  ]);
  await opened.store.appendLog(first, 'build', [{ level: 'info', message: 'three' }]);
  const read = await opened.store.readLog([first], 'build', { order: 'asc', limit: 10 });
  expect(read.map(({ message }) => message)).toEqual(['one', 'two \ufffd', 'three']);
  await opened.store.trimLog(first, 'build', 1);
  expect(await opened.store.readLog([first], 'build', { order: 'asc', limit: 10 })).toMatchObject([
    { message: 'three' },
  ]);
});
