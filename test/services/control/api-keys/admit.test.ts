import { expect, test } from 'vitest';
import { admit } from '../../../../src/services/control/api-keys/admit.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';

const [own, wide] = [makeApiKey(), makeApiKey()];
const [shop, bank] = ['6a3d2f9c-1111-4111-8111-111111111111', '6a3d2f9c-2222-4222-8222-222222222222'];
const stranger = '6a3d2f9c-3333-4333-8333-333333333333';

const kept = (key: typeof own, name: string, tenants: string[]) => ({
  id: key.id,
  name,
  hash: hashApiKey(key),
  tenant_id: tenants[0] ?? '',
  tenant_ids: tenants,
  last_used_at: null,
  scopes: ['admin' as const],
  expires_at: null,
});
const keys = [kept(own, 'ci', [shop]), kept(wide, 'organisation', [shop, bank])];

async function ask(headers: Record<string, string>) {
  const used: string[] = [];
  const book = {
    findKey: async (id: string) => keys.find((key) => key.id === id),
    noteKeyUse: async ({ name }: { name: string }) => void used.push(name),
  };
  const caller = await admit((name) => headers[name.toLowerCase()], book, { method: 'GET', isSafe: false });
  return { ...caller, used };
}

test.each([
  ['a key of one tenant', { 'x-api-key': own.text }, shop],
  ['the same key as a bearer token', { authorization: `Bearer ${own.text}` }, shop],
  ['a bearer token next to an empty key', { 'x-api-key': ' ', authorization: `Bearer ${own.text}` }, shop],
  ['a key with its own tenant', { 'x-api-key': own.text, 'x-tenant-id': shop }, shop],
  ['a key with its own tenant in uppercase', { 'x-api-key': own.text, 'x-tenant-id': shop.toUpperCase() }, shop],
  ['a key with an empty tenant', { 'x-api-key': own.text, 'x-tenant-id': ' ' }, shop],
  ["an organisation's key with its first tenant", { 'x-api-key': wide.text, 'x-tenant-id': shop }, shop],
  ["an organisation's key with its second tenant", { authorization: `bearer ${wide.text}`, 'x-tenant-id': bank }, bank],
])('accepts %s and records its use', async (_, headers, tenantId) => {
  const caller = await ask(headers);
  expect(caller).toMatchObject({ kind: 'tenant', tenantId, by: { kind: 'key' } });
  expect(caller.used).toHaveLength(1);
});

test.each([
  ["an organisation's key without a tenant", { 'x-api-key': wide.text }, 403, 'requires workspace specification'],
  [
    "an organisation's key with another tenant",
    { 'x-api-key': wide.text, 'x-tenant-id': stranger },
    403,
    'no tenant of',
  ],
  ["a key with another key's tenant", { 'x-api-key': own.text, 'x-tenant-id': bank }, 403, 'no tenant of this'],
  ['a key with an unknown tenant', { 'x-api-key': own.text, 'x-tenant-id': stranger }, 403, 'no tenant of this'],
  ['a key with an invalid tenant', { 'x-api-key': own.text, 'x-tenant-id': 'shop' }, 403, 'no tenant of this'],
  ['an empty key', { 'x-api-key': '' }, 401, 'No API key was sent'],
  ['only a tenant', { 'x-tenant-id': shop }, 401, 'No API key was sent'],
  ['an unknown key', { 'x-api-key': makeApiKey().text }, 401, 'not valid'],
  ['a known id with another secret', { 'x-api-key': own.text.slice(0, 20) + wide.text.slice(20) }, 401, 'not valid'],
  ['a wrong key next to a valid token', { 'x-api-key': 'lf', authorization: `Bearer ${own.text}` }, 401, 'not valid'],
])('rejects %s', async (_, headers, status, words) => {
  expect(await ask(headers)).toEqual({ kind: 'refused', status, detail: expect.stringContaining(words), used: [] });
});

test('rejects an existing and an unknown tenant with the same message', async () => {
  const [one, other] = await Promise.all(
    [bank, stranger].map((tenant) => ask({ 'x-api-key': own.text, 'x-tenant-id': tenant })),
  );
  expect(one).toEqual(other);
});
