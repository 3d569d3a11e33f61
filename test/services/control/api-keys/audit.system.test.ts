import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { ages } from '../../../../src/services/control/retention/expired-builds.ts';
import { everyRow } from '../every-row.ts';
import { fromGit, openServiceFixture, refusalOf, type ServiceFixture } from '../service-fixture.ts';

describe('the audit log, over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  const made = async (changes: Record<string, unknown> = {}) => {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit(changes));
    await fixture.rollouts.settled();
    return { id, first: latest_revision_id ?? '' };
  };
  const changesOf = async (deployment_id: string) =>
    (await fixture.control.listAudit({ deployment_id, limit: 100 })).resources;

  test('records who created a deployment and which fields were set', async () => {
    const { id, first } = await made({ name: 'recorded', secrets: [{ name: 'MODEL_KEY', value: 'canary-1' }] });
    expect(await changesOf(id)).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        at: expect.stringMatching(/^20\d\d-.*Z$/),
        actor: 'key',
        key_id: readApiKey(fixture.apiKey)?.id,
        key_name: 'unnamed',
        operation: 'create deployment',
        subject: { deployment_id: id, deployment_name: 'recorded', revision_id: first },
        fields: [
          'secrets.MODEL_KEY',
          'source_config.repo_url',
          'source_revision_config.graph_config_path',
          'source_revision_config.repo_ref',
        ],
      },
    ]);
  });

  test('records each change of a deployment by name, newest first', async () => {
    const { id, first } = await made();
    const patch = { source_config: { build_on_push: true }, secrets: [{ name: 'A', value: 'canary-2' }] };
    const { latest_revision_id: second } = await fixture.control.patchDeployment(id, patch);
    const third = await fixture.control.createRevision(id, {});
    const { latest_revision_id: fourth } = await fixture.control.redeployRevision(id, first);
    expect(
      (await changesOf(id)).map(({ operation, subject, fields }) => [operation, subject['revision_id'], fields]),
    ).toEqual([
      ['redeploy revision', fourth, ['secrets.A']],
      ['create revision', third.id, []],
      ['patch deployment', second, ['secrets.A', 'source_config.build_on_push']],
      ['create deployment', first, expect.any(Array)],
    ]);
  });

  test('neither returns nor stores values', async () => {
    const { id } = await made({
      secrets: [{ name: 'A', value: 'canary-3' }],
      source_config: { install_command: 'canary-3' },
    });
    await fixture.control.patchDeployment(id, { secrets: [{ name: 'A', value: 'canary-4' }] });
    const kept = (await everyRow(fixture.databaseUrl))['control.audit'];
    expect(kept?.length).toBeGreaterThan(1);
    expect(JSON.stringify([await fixture.control.listAudit({ limit: 100 }), kept])).not.toMatch(/canary/);
  });

  test('does not record rejected, repeated or empty changes', async () => {
    const { id } = await made();
    const idempotencyKey = randomUUID();
    await fixture.control.patchDeployment(id, { source_config: { build_on_push: false } }, { idempotencyKey });
    const before = await changesOf(id);
    await fixture.control.patchDeployment(id, { source_config: { build_on_push: false } }, { idempotencyKey });
    await fixture.control.patchDeployment(id, {});
    await refusalOf(fixture.control.patchDeployment(id, { source_config: { repo_url: 'https://example.com/b' } }));
    await refusalOf(fixture.control.patchDeployment(id, { secrets: [] }, { ifLatest: randomUUID() }));
    expect(await changesOf(id)).toEqual(before);
  });

  test('records the id and the name of created and revoked keys', async () => {
    const { id } = await fixture.control.createApiKey({ name: 'ci' });
    await fixture.control.revokeApiKey(id);
    const subject = { api_key_id: id, api_key_name: 'ci' };
    expect((await fixture.control.listAudit({ limit: 2 })).resources).toMatchObject([
      { operation: 'revoke api key', subject },
      { operation: 'create api key', subject },
    ]);
  });

  test("does not show another tenant's changes", async () => {
    const { id } = await made();
    expect(await fixture.stranger.listAudit({ deployment_id: id })).toEqual({ resources: [], next_before: null });
  });

  test('is listed in pages, and filtered by operation and key', async () => {
    const { resources: all } = await fixture.control.listAudit({ limit: 100 });
    const one = await fixture.control.listAudit({ limit: 2 });
    const two = await fixture.control.listAudit({ limit: 2, before: one.next_before ?? '' });
    expect([...one.resources, ...two.resources]).toEqual(all.slice(0, 4));
    const creations = await fixture.control.listAudit({ limit: 100, operation: 'create deployment' });
    expect(creations.resources).toEqual(all.filter(({ operation }) => operation === 'create deployment'));
    expect((await fixture.control.listAudit({ key_id: 'another' })).resources).toEqual([]);
    expect((await refusalOf(fixture.control.listAudit({ before: 'x' }))).at).toEqual(['query.before']);
  });
});

test('keeps audit records for a year', async () => {
  let now = Date.UTC(2030, 0, 1);
  const fixture = await openServiceFixture({ clock: { now: () => now, sleep: () => Promise.resolve() } });
  const names = async () =>
    (await fixture.control.listAudit({})).resources.map(({ subject }) => subject['api_key_name']);
  const forget = () => fixture.store.deleteOldChanges(ages.changes.ms);
  try {
    await fixture.control.createApiKey({ name: 'old' });
    now += 365 * 24 * 3_600_000;
    await fixture.control.createApiKey({ name: 'new' });
    expect([await forget(), await names()]).toEqual([0, ['new', 'old']]);
    now += 1;
    expect([await forget(), await names()]).toEqual([1, ['new']]);
  } finally {
    await fixture.close();
  }
});
