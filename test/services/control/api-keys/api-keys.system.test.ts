import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashApiKey, makeApiKey, readApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { useWrittenEvery } from '../../../../src/services/control/api-keys/repository.ts';
import { everyRow } from '../every-row.ts';
import { openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

describe("a tenant's keys, over HTTP", () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  const idsOf = async (control = fixture.control) =>
    (await control.listApiKeys({ limit: 100 })).resources.map(({ id }) => id);

  test('creates a named key, returns it once, and lists it without its text', async () => {
    const made = await fixture.control.createApiKey({ name: 'ci of the shop' });
    expect(made).toMatchObject({ name: 'ci of the shop', last_used_at: null, is_organisation_key: false });
    expect(readApiKey(made.key ?? '')?.id).toBe(made.id);
    const list = await fixture.control.listApiKeys({});
    expect(list.resources[0]).toEqual({ ...made, key: undefined });
    expect(JSON.stringify([list, await everyRow(fixture.databaseUrl)])).not.toContain((made.key ?? '').slice(20));
    expect(await fixture.store.findKey(made.id)).toMatchObject({ tenant_ids: [fixture.tenantId] });
  });

  test('a repeated creation with an idempotency key returns all but the key', async () => {
    const idempotencyKey = randomUUID();
    const before = await idsOf();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.control.createApiKey({ name: 'once' }, { idempotencyKey })),
    );
    const [id, ...others] = new Set(answers.map((answer) => answer.id));
    expect([others, await idsOf()]).toEqual([[], [id, ...before]]);
    expect(answers.flatMap(({ key }) => key ?? [])).toHaveLength(1);
  });

  test.each([
    ['no name', {}],
    ['an empty name', { name: ' ' }],
    ['a name that is too long', { name: 'n'.repeat(101) }],
    ['a name of two lines', { name: 'a\nb' }],
    ['a name of another type', { name: 7 }],
  ])('rejects %s', async (_, body) => {
    expect(await refusalOf(fixture.control.createApiKey(body))).toMatchObject({ status: 422, at: ['body.name'] });
  });

  test.each([
    ['no scope', { scopes: [] }, 'body.scopes'],
    ['a mistyped field', { scope: ['read'] }, 'body.scope'],
    ['an unknown scope', { scopes: ['write'] }, 'body.scopes.0'],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'body.expires_at'],
    ['an expiry that is no time', { expires_at: 'tomorrow' }, 'body.expires_at'],
  ])('rejects %s', async (_, rights, at) => {
    const body = { name: 'ci', ...rights };
    expect(await refusalOf(fixture.control.createApiKey(body))).toMatchObject({ status: 422, at: [at] });
  });

  test('creates a key with some scopes and an expiry, once each', async () => {
    const expires_at = '2100-01-01T00:00:00.000Z';
    const made = await fixture.control.createApiKey({ name: 'ci', scopes: ['agent', 'deploy', 'agent'], expires_at });
    expect(made).toMatchObject({ scopes: ['agent', 'deploy'], expires_at });
    expect((await fixture.control.listApiKeys({})).resources[0]).toMatchObject({
      scopes: ['agent', 'deploy'],
      expires_at,
    });
  });

  test('revokes a key once, by another key or by itself', async () => {
    const { id } = await fixture.control.createApiKey({ name: 'short-lived' });
    await fixture.control.revokeApiKey(id);
    expect(await idsOf()).not.toContain(id);
    expect(await fixture.store.findKey(id)).toBeUndefined();
    expect((await refusalOf(fixture.control.revokeApiKey(id))).status).toBe(404);
  });

  test('a repeated revocation with an idempotency key succeeds', async () => {
    const { id } = await fixture.control.createApiKey({ name: 'short-lived' });
    const idempotencyKey = randomUUID();
    await fixture.control.revokeApiKey(id, { idempotencyKey });
    await expect(fixture.control.revokeApiKey(id, { idempotencyKey })).resolves.toBeUndefined();
  });

  test("does not show another tenant's key", async () => {
    const { id } = await fixture.control.createApiKey({ name: 'mine' });
    expect((await refusalOf(fixture.stranger.revokeApiKey(id))).status).toBe(404);
    expect([(await idsOf(fixture.stranger)).includes(id), (await idsOf()).includes(id)]).toEqual([false, true]);
  });

  test('keeps the last key of a tenant and says what to do first', async () => {
    const [only = ''] = await idsOf(fixture.stranger);
    const refusal = await refusalOf(fixture.stranger.revokeApiKey(only));
    expect([refusal.status, refusal.detail]).toEqual([409, expect.stringContaining('the last one of this tenant')]);
    const expires_at = '2100-01-01T00:00:00.000Z';
    const lesser = await fixture.stranger.createApiKey({ name: 'deploys', scopes: ['deploy', 'agent'] });
    const passing = await fixture.stranger.createApiKey({ name: 'for a time', expires_at });
    expect((await refusalOf(fixture.stranger.revokeApiKey(only))).status).toBe(409);
    for (const { id } of [lesser, passing]) await fixture.stranger.revokeApiKey(id);
    const { id: next } = await fixture.stranger.createApiKey({ name: 'next' });
    await fixture.stranger.revokeApiKey(next);
    expect(await idsOf(fixture.stranger)).toEqual([only]);
  });

  test('only the operator revokes keys of the installation and of organizations', async () => {
    const [kept, wide] = [makeApiKey(), makeApiKey()];
    await fixture.store.addKey({ id: kept.id, tenant_id: fixture.tenantId, hash: hashApiKey(kept), is_kept: true });
    const other = await fixture.store.addTenant(`org-${randomUUID()}`);
    await fixture.store.addKey({
      id: wide.id,
      tenant_id: fixture.tenantId,
      other_tenants: [other],
      hash: hashApiKey(wide),
    });
    for (const [id, word] of [
      [kept.id, 'key of this installation'],
      [wide.id, 'other tenants'],
    ] as const) {
      const refusal = await refusalOf(fixture.control.revokeApiKey(id));
      expect([refusal.status, refusal.detail]).toEqual([409, expect.stringContaining(word)]);
      expect(refusal.detail).toContain(`landfall local keys revoke ${id}`);
    }
    const listed = (await fixture.control.listApiKeys({ limit: 100 })).resources;
    expect(listed.find(({ id }) => id === wide.id)).toMatchObject({ is_organisation_key: true });
    expect(listed.find(({ id }) => id === kept.id)).toMatchObject({ is_installation_key: true });
  });

  test('lists keys in pages, newest first', async () => {
    const all = await idsOf();
    const first = await fixture.control.listApiKeys({ limit: 2 });
    const second = await fixture.control.listApiKeys({ limit: 2, offset: first.offset });
    expect([...first.resources, ...second.resources].map(({ id }) => id)).toEqual(all.slice(0, 4));
  });

  test('of two keys revoked concurrently one remains', async () => {
    const { id } = await fixture.stranger.createApiKey({ name: 'second' });
    const both = await idsOf(fixture.stranger);
    const ends = await Promise.allSettled(both.map((one) => fixture.stranger.revokeApiKey(one)));
    expect([both.length, ends.filter(({ status }) => status === 'fulfilled').length]).toEqual([2, 1]);
    const left = await Promise.all(both.map((one) => fixture.store.findKey(one)));
    expect([id, left.filter((key) => key !== undefined).length]).toEqual([both[0], 1]);
  });
});

describe('the last use of a key', () => {
  let fixture: ServiceFixture;
  let now = Date.UTC(2030, 0, 1);
  beforeAll(async () => {
    fixture = await openServiceFixture({ clock: { now: () => now, sleep: () => Promise.resolve() } });
  });
  afterAll(() => fixture.close());

  test('is recorded, but not on every request', async () => {
    const id = readApiKey(fixture.apiKey)?.id ?? '';
    const lastUse = async () => (await fixture.store.findKey(id))?.last_used_at?.getTime();
    expect(await lastUse()).toBeUndefined();
    await fixture.control.listDeployments({});
    const first = now;
    expect(await lastUse()).toBe(first);
    now += useWrittenEvery - 1;
    await fixture.control.listDeployments({});
    expect(await lastUse()).toBe(first);
    now += 1;
    await fixture.control.listDeployments({});
    expect(await lastUse()).toBe(now);
  });

  test('is not recorded for a forged key', async () => {
    const key = makeApiKey();
    await fixture.store.addKey({ id: key.id, tenant_id: fixture.tenantId, hash: hashApiKey(key) });
    const forged = `${key.text.slice(0, 20)}${makeApiKey().text.slice(20)}`;
    const answer = await fetch(`${fixture.baseUrl}/v2/deployments`, { headers: { 'x-api-key': forged } });
    expect([answer.status, (await fixture.store.findKey(key.id))?.last_used_at]).toEqual([401, null]);
  });
});
