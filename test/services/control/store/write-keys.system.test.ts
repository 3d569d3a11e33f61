import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import type { DeploymentChange } from '../../../../src/services/control/store/records.ts';
import { openTestStore } from './open-store.ts';
import type { TestStore } from './open-store.ts';

const hour = 3_600_000;
let now = Date.UTC(2030, 0, 1);
const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };

let opened: TestStore;
let tenantId: string;
let deploymentId: string;
const wanted = {
  source_config: {},
  source_revision_config: { repo_ref: 'main' },
  secrets: [],
  secret_references: null,
};

beforeAll(async () => {
  opened = await openTestStore(clock);
  tenantId = await opened.store.addTenant('one');
  const made = await opened.store.createDeployment(tenantId, { name: 'support', source: 'github', ...wanted });
  if (made.kind !== 'created') throw new Error(made.kind);
  deploymentId = made.deployment.id;
});
afterAll(() => opened.close());

const keyed = (key: string) => ({ key, request: 'PATCH /x', digest: createHash('sha256').update(key).digest() });
const change = (key: string, decide: () => DeploymentChange = () => ({ wanted, revision: 'new' })) =>
  opened.store.changeDeployment(tenantId, deploymentId, decide, keyed(key));

test('an aborted write leaves neither a revision nor its key, and can be retried', async () => {
  const before = await opened.store.listRevisions(deploymentId, {});
  const key = randomUUID();
  const broken = change(key, () => {
    throw new Error('the process is gone');
  });
  await expect(broken).rejects.toThrow('the process is gone');
  expect((await change(key))?.kind).toBe('changed');
  expect((await change(key))?.kind).toBe('repeated');
  expect(await opened.store.listRevisions(deploymentId, {})).toHaveLength(before.length + 1);
});

test('a key is kept for 7 days, and pruned some time after them', async () => {
  const key = randomUUID();
  expect((await change(key))?.kind).toBe('changed');
  now += 7 * 24 * hour - 1;
  expect((await change(key))?.kind).toBe('repeated');
  now += 2 * hour;
  expect((await change(key))?.kind).toBe('changed');
});
