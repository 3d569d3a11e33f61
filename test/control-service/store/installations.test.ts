import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore } from './open-store.ts';
import type { TestStore } from './open-store.ts';

/** Which tenant has an installation of the GitHub App (docs/design/builds.md). */
let opened: TestStore;
let first: string;
let second: string;
const installation = (id: number) => ({ id, account: `org-${id}`, isSuspended: false });
const of = async (tenantId: string): Promise<string[]> =>
  (await opened.store.listIntegrations(tenantId)).map(({ installation_id }) => installation_id).toSorted();

beforeAll(async () => {
  opened = await openTestStore();
  first = await opened.store.addTenant('first');
});
afterAll(() => opened.close());

test('a sole tenant gets every installation that GitHub lists', async () => {
  await opened.store.putInstallations([installation(1), installation(2)]);
  expect(await of(first)).toEqual(['1', '2']);
});

test('but for one that the operator took from it, however often GitHub lists it', async () => {
  await opened.store.unbindInstallation(first, 2);
  await opened.store.putInstallations([installation(1), installation(2)]);
  expect(await of(first)).toEqual(['1']);
});

test('where a second tenant comes what the first one has stays its own, and what is new is nobody’s', async () => {
  second = await opened.store.addTenant('second');
  await opened.store.putInstallations([installation(1), installation(2), installation(3)]);
  expect([await of(first), await of(second)]).toEqual([['1'], []]);
  const bindings = await opened.store.listInstallations();
  expect(bindings.map(({ installation_id, tenant_ids }) => [installation_id, tenant_ids])).toEqual([
    ['1', [first]],
    ['2', []],
    ['3', []],
  ]);
});
