import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore } from '../store/open-store.ts';
import type { TestStore } from '../store/open-store.ts';

/** Which tenant owns the installations of the GitHub App, as the README of the store says. */
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

test('except one that the operator removed from it', async () => {
  await opened.store.unbindInstallation(first, 2);
  await opened.store.putInstallations([installation(1), installation(2)]);
  expect(await of(first)).toEqual(['1']);
});

test('with a second tenant the first keeps its own, and new ones have no owner', async () => {
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
