import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyRow } from '../every-row.ts';
import { fromGit, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** A write to repeat with idempotency keys, and its name in the audit log. */
type Ready = (
  fixture: ServiceFixture,
) => Promise<{ operation: string; ask: (idempotencyKey: string) => Promise<unknown> }>;

const uploaded = () => ({
  name: `agent-${randomUUID().slice(0, 8)}`,
  source: 'internal_source',
  source_config: {},
  source_revision_config: { graph_config_path: 'graph.json' },
  secrets: [],
});
const cluster = () => ({ compute_type: 'k8s', compute_id: randomUUID(), compute_config: { k8s_namespaces: [] } });

const writes: readonly (readonly [what: string, ready: Ready])[] = [
  [
    'a deletion',
    async ({ control }) => {
      const { id } = await control.createDeployment(fromGit());
      const ask = (idempotencyKey: string) => control.deleteDeployment(id, {}, { idempotencyKey });
      return { operation: 'delete deployment', ask };
    },
  ],
  [
    'a bulk deletion',
    async ({ control }) => {
      const { id } = await control.createDeployment(fromGit());
      const ask = (idempotencyKey: string) => control.deleteDeployments({ deployment_ids: [id] }, { idempotencyKey });
      return { operation: 'delete deployments', ask };
    },
  ],
  [
    'an interruption',
    async ({ control }) => {
      const { id, latest_revision_id } = await control.createDeployment(fromGit());
      const ask = (idempotencyKey: string) =>
        control.interruptRevision(id, latest_revision_id ?? '', { idempotencyKey });
      return { operation: 'interrupt revision', ask };
    },
  ],
  [
    'an upload address',
    async ({ control }) => {
      const { id } = await control.createDeployment(uploaded());
      const ask = (idempotencyKey: string) => control.requestUpload(id, { idempotencyKey });
      return { operation: 'request upload', ask };
    },
  ],
  [
    'a listener',
    async ({ control }) => {
      const body = cluster();
      const ask = (idempotencyKey: string) => control.createListener(body, { idempotencyKey });
      return { operation: 'create listener', ask };
    },
  ],
  [
    'a change of a listener',
    async ({ control }) => {
      const { id } = await control.createListener(cluster());
      const ask = (idempotencyKey: string) =>
        control.patchListener(id, { compute_config: { k8s_namespaces: ['agents'] } }, { idempotencyKey });
      return { operation: 'patch listener', ask };
    },
  ],
  [
    'a deletion of a listener',
    async ({ control }) => {
      const { id } = await control.createListener(cluster());
      const ask = (idempotencyKey: string) => control.deleteListener(id, { idempotencyKey });
      return { operation: 'delete listener', ask };
    },
  ],
];

describe('a write with an idempotency key, over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  test.each(writes)('%s is made once for twenty concurrent requests, and returned twenty times', async (_, ready) => {
    const { operation, ask } = await ready(fixture);
    const count = async () => (await fixture.control.listAudit({ operation, limit: 100 })).resources.length;
    const before = await count();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(key)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await count()).toBe(before + 1);
    const rows = await everyRow(fixture.databaseUrl);
    expect(await ask(key)).toEqual(answers[0]);
    expect(await everyRow(fixture.databaseUrl)).toEqual(rows);
  });

  test.each(writes)('%s under the key of another write is refused, and not made', async (_, ready) => {
    const { ask } = await ready(fixture);
    const key = randomUUID();
    await fixture.control.createDeployment(fromGit(), { idempotencyKey: key });
    const rows = await everyRow(fixture.databaseUrl);
    expect(await refusalOf(ask(key))).toMatchObject({ status: 422, at: ['header.Idempotency-Key'] });
    expect(await everyRow(fixture.databaseUrl)).toEqual(rows);
  });

  test('a refused write leaves no key and no record', async () => {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
    await fixture.control.interruptRevision(id, latest_revision_id ?? '');
    const rows = await everyRow(fixture.databaseUrl);
    const idempotencyKey = randomUUID();
    const refused = await refusalOf(
      fixture.control.interruptRevision(id, latest_revision_id ?? '', { idempotencyKey }),
    );
    expect([refused.status, await everyRow(fixture.databaseUrl)]).toEqual([400, rows]);
    await expect(fixture.control.deleteDeployment(id, {}, { idempotencyKey })).resolves.toBeUndefined();
  });

  test('a deletion can be repeated after the deployment is gone', async () => {
    const { id } = await fixture.control.createDeployment(fromGit());
    const idempotencyKey = randomUUID();
    await fixture.control.deleteDeployment(id, {}, { idempotencyKey });
    await fixture.store.noteStopped(id);
    await fixture.store.finishDeletion(id);
    expect((await refusalOf(fixture.control.getDeployment(id))).status).toBe(404);
    await expect(fixture.control.deleteDeployment(id, {}, { idempotencyKey })).resolves.toBeUndefined();
    expect((await refusalOf(fixture.control.deleteDeployment(id, {}))).status).toBe(404);
  });

  test('a creation is not repeated under its key after its deployment was deleted', async () => {
    const request = fromGit();
    const idempotencyKey = randomUUID();
    const { id } = await fixture.control.createDeployment(request, { idempotencyKey });
    await fixture.control.deleteDeployment(id, { delete_tracing_project: true });
    await fixture.store.noteStopped(id);
    await fixture.store.finishDeletion(id);
    const refused = await refusalOf(fixture.control.createDeployment(request, { idempotencyKey }));
    expect([refused.status, refused.detail]).toEqual([409, expect.stringContaining('Choose a new key')]);
    expect((await fixture.control.createDeployment(request)).id).not.toBe(id);
  });
});
