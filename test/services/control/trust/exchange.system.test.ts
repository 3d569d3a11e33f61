import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { findValidKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import { createTokenExchange, type ExchangeToken } from '../../../../src/services/control/trust/exchange.ts';
import { createTokenVerifier } from '../../../../src/services/control/trust/verify-token.ts';
import { instantRollouts } from '../instant-rollouts.ts';
import { refusalOf } from '../service-fixture.ts';
import { openTestStore } from '../store/open-store.ts';
import { loggerTo } from '../../../logger.ts';
import { everyRow } from '../every-row.ts';
import { startIssuer, type Issuer } from '../../../../src/demo/token-issuer.ts';

let issuer: Issuer;
let opened: Awaited<ReturnType<typeof openTestStore>>;
let exchange: ExchangeToken;
let logged: string[] = [];
let now = Date.now();
const clock = { ...systemClock, now: () => now };
beforeAll(async () => {
  [issuer, opened] = [await startIssuer(), await openTestStore(clock)];
});
afterAll(async () => {
  await issuer.stop();
  await opened.close();
});
beforeEach(() => {
  now = Date.now();
  logged = [];
  const verify = createTokenVerifier({ issuers: [issuer.url], clock });
  exchange = createTokenExchange({ store: opened.store, verify, clock, log: loggerTo((line) => logged.push(line)) });
});

async function tenantWith(policies: readonly object[]) {
  const tenantId = await opened.store.addTenant(`tenant-${Math.random()}`);
  const control = createControlService({
    store: opened.store,
    rollouts: instantRollouts(opened.store),
    tenantId,
    baseUrl: () => 'https://control.test',
    allowGit: [],
    clock,
    oidcIssuers: [issuer.url],
  });
  const terms = { name: 'ci', issuer: issuer.url, scopes: ['deploy', 'agent'] };
  for (const policy of policies) await control.createTrustPolicy({ ...terms, ...policy });
  return { tenantId, control };
}

/** Claims that no policy of another test names. */
const subject = (): string => `repo:acme/agent-${Math.random()}:ref:refs/heads/main`;

describe('a token that a policy trusts', () => {
  test('is exchanged for a key with the scopes, which expires', async () => {
    const sub = subject();
    const { tenantId, control } = await tenantWith([{ claims: { sub }, key_minutes: 15 }]);
    const token = await issuer.sign({ sub, run_id: '4711', actor: 'ada' });
    const result = await exchange({ token, tenant_id: tenantId });
    const expires_at = new Date(now + 15 * 60_000).toISOString();
    expect(result).toMatchObject({
      kind: 'key',
      key: { tenant_id: tenantId, scopes: ['deploy', 'agent'], expires_at },
    });
    const text = result.kind === 'key' ? result.key.key : '';
    const stored = await findValidKey(text, opened.store);
    expect(stored).toMatchObject({
      tenant_ids: [tenantId],
      scopes: ['deploy', 'agent'],
      name: `token of ${sub}`.slice(0, 100),
    });
    now += 15 * 60_000;
    expect(await findValidKey(text, opened.store)).toBeUndefined();

    const [entry] = (await control.listAudit({ operation: 'exchange token' })).resources;
    expect(entry).toMatchObject({
      key_id: stored?.id,
      subject: { sub, run_id: '4711', actor: 'ada', trust_policy_id: expect.any(String) },
    });
    expect((await control.listTrustPolicies({})).resources).toMatchObject([{ last_used_at: expect.any(String) }]);
    const rows = JSON.stringify(await everyRow(opened.url));
    expect([rows.includes(text), rows.includes(token)]).toEqual([false, false]);
  });

  test('is exchanged once, however often it is sent at the same time', async () => {
    const sub = subject();
    const { tenantId } = await tenantWith([{ claims: { sub } }]);
    const token = await issuer.sign({ sub });
    const results = await Promise.all(Array.from({ length: 10 }, () => exchange({ token, tenant_id: tenantId })));
    expect(results.filter(({ kind }) => kind === 'key')).toHaveLength(1);
    const detail = expect.stringContaining('was exchanged before');
    expect(results.filter(({ kind }) => kind === 'refused')).toContainEqual({ kind: 'refused', status: 401, detail });
  });

  test('is exchanged for the tenant that it names, whoever else trusts it', async () => {
    const sub = subject();
    const { tenantId } = await tenantWith([{ claims: { sub } }]);
    const { tenantId: other } = await tenantWith([{ claims: { sub } }]);
    expect(await exchange({ token: await issuer.sign({ sub }), tenant_id: tenantId })).toMatchObject({
      key: { tenant_id: tenantId },
    });
    expect(await exchange({ token: await issuer.sign({ sub }), tenant_id: other })).toMatchObject({
      key: { tenant_id: other },
    });
  });

  test('names its tenant where there are several, so that no other can take it', async () => {
    const sub = subject();
    await tenantWith([{ claims: { sub } }]);
    const detail = expect.stringContaining('Name yours as tenant_id');
    expect(await exchange({ token: await issuer.sign({ sub }) })).toEqual({ kind: 'refused', status: 403, detail });
  });
});

test.each<[what: string, claims: (sub: string) => object]>([
  ['another subject', () => ({ sub: subject() })],
  ['another audience', (sub) => ({ sub, aud: 'https://other.test' })],
  ['another environment', (sub) => ({ sub, environment: 'staging' })],
])('a token with %s is refused, with what it claims', async (_, claims) => {
  const sub = subject();
  const { tenantId } = await tenantWith([{ claims: { sub, environment: 'production' } }]);
  const claimed: Record<string, string> = { sub, environment: 'production', ...claims(sub) };
  const token = await issuer.sign(claimed);
  const detail = expect.stringMatching(/^No trust policy matches this token \(audience .*, sub repo:acme/);
  expect(await exchange({ token, tenant_id: tenantId })).toEqual({ kind: 'refused', status: 403, detail });
  expect(logged.join()).toContain(`, sub ${claimed['sub']}`);
  expect(logged.join()).not.toContain(token.slice(-40));
});

test('a policy that was deleted trusts nothing any more', async () => {
  const sub = subject();
  const { tenantId, control } = await tenantWith([{ claims: { sub } }]);
  const [policy] = (await control.listTrustPolicies({})).resources;
  await control.deleteTrustPolicy(policy?.id ?? '');
  expect(await exchange({ token: await issuer.sign({ sub }), tenant_id: tenantId })).toMatchObject({
    kind: 'refused',
    status: 403,
  });
  expect((await refusalOf(control.deleteTrustPolicy('x'))).status).toBe(422);
  expect((await refusalOf(control.deleteTrustPolicy(policy?.id ?? ''))).status).toBe(404);
});

test.each<[what: string, policy: () => object, status: number, words: string]>([
  ['an issuer that the operator does not name', () => ({ issuer: 'https://issuer.test' }), 400, '--oidc-issuer'],
  ['no subject', () => ({ claims: { project: '7' } }), 400, 'claims.sub'],
  ['no scope', () => ({ scopes: [] }), 422, ''],
  ['a claim beside its claims', () => ({ ref: 'refs/heads/main' }), 422, ''],
  ['a claim of every object', () => ({ claims: JSON.parse('{"sub": "a", "__proto__": "b"}') }), 400, '__proto__'],
  ['nine wildcards', () => ({ claims: { sub: 'a', ref: { like: '*-'.repeat(9) } } }), 422, ''],
  ['a wildcard alone', () => ({ claims: { sub: { like: '**' } } }), 422, ''],
  [
    'more claims than 20',
    () => ({ claims: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`c${at}_id`, 'a'])) }),
    422,
    '',
  ],
  ['a key for a day', () => ({ key_minutes: 1_440 }), 422, ''],
])('refuses a policy with %s', async (_, policy, status, words) => {
  const refusal = await refusalOf(tenantWith([{ claims: { sub: 'a' }, ...policy() }]));
  expect([refusal.status, refusal.detail ?? '']).toEqual([status, expect.stringContaining(words)]);
});

test('forgets tokens and keys after their expiry', async () => {
  const sub = subject();
  const { tenantId } = await tenantWith([{ claims: { sub } }]);
  await exchange({ token: await issuer.sign({ sub }), tenant_id: tenantId });
  now += 3 * 3_600_000;
  await opened.store.deleteExpiredAccess(3_600_000);
  const rows = await everyRow(opened.url);
  expect([rows['control.used_tokens'], rows['control.api_keys']]).toEqual([[], []]);
});
