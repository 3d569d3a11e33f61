import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiKeyScope } from '../../../../src/contract/control/api-key-scopes.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { everyRow } from '../every-row.ts';
import { cookieOf, openSessionFixture, type SessionFixture } from './fixture.ts';

let service: SessionFixture;
beforeAll(async () => {
  service = await openSessionFixture();
});
afterAll(() => service.close());
// Wrong keys of the test before are forgotten.
beforeEach(() => (service.clock.time += 16 * 60_000));

const read = (cookie: string) => service.send({ path: '/v1/session', headers: { cookie } });
const hour = 3_600_000;

describe('signing in with a key', () => {
  test('creates a session, whose cookie scripts and other sites cannot use', async () => {
    const { status, headers, body } = await service.signIn({ api_key: service.key.text }, { origin: service.origin });
    expect(status).toBe(201);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^landfall_session_[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      key_id: service.key.id,
      key_name: 'ci',
      tenant_id: service.tenant,
      tenants: [{ id: service.tenant, name: 'one' }],
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: new Date(service.clock.time + 12 * hour).toISOString(),
      agents_url: service.origin.replace('127.0.0.1', 'agents.localhost'),
    });
  });

  test('says that the session ends with a key that expires earlier', async () => {
    const key = makeApiKey();
    const expires_at = new Date(service.clock.time + hour);
    await service.store.addKey({ id: key.id, tenant_id: service.tenant, hash: hashApiKey(key), expires_at });
    const { status, body, headers } = await service.signIn({ api_key: key.text }, { origin: service.origin });
    expect([status, body]).toMatchObject([201, { expires_at: expires_at.toISOString() }]);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await read(cookie)).body).toMatchObject({ expires_at: expires_at.toISOString() });
  });

  test('refuses a key that may not read, for which no page would work', async () => {
    const [reader, asker] = [makeApiKey(), makeApiKey()];
    const add = (key: typeof reader, scopes: readonly ApiKeyScope[]) =>
      service.store.addKey({ id: key.id, tenant_id: service.tenant, hash: hashApiKey(key), scopes });
    await Promise.all([add(reader, ['read']), add(asker, ['agent'])]);
    const signIn = ({ text }: typeof reader) => service.signIn({ api_key: text }, { origin: service.origin });
    expect((await signIn(reader)).status).toBe(201);
    const detail = expect.stringContaining('needs a key with the scope read');
    expect(await signIn(asker)).toMatchObject({ status: 403, body: { detail } });
  });

  test('stores neither the token of the cookie nor the CSRF token', async () => {
    const { cookie, csrf_token } = await service.browser();
    const stored = JSON.stringify(await everyRow(service.databaseUrl));
    const token = cookie.split('=')[1] ?? '';
    expect(stored).toContain('sessions');
    for (const secret of [token, csrf_token]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  test('reads the session back, with the same CSRF token', async () => {
    const { cookie, ...session } = await service.browser();
    expect(await read(cookie)).toMatchObject({ status: 200, body: session });
  });

  test('replaces the session that the browser sends', async () => {
    const first = await service.browser();
    const second = await service.browser(service.key.text, { cookie: first.cookie });
    expect(second.cookie).not.toBe(first.cookie);
    expect([(await read(first.cookie)).status, (await read(second.cookie)).status]).toEqual([401, 200]);
  });

  test('adopts no session that an attacker has chosen', async () => {
    const planted = `${(await service.browser()).cookie.split('=')[0]}=${'a'.repeat(43)}`;
    const { cookie } = await service.browser(service.key.text, { cookie: planted });
    expect(cookie).not.toBe(planted);
    expect((await read(planted)).status).toBe(401);
  });

  test.each([
    ['another origin', () => ({ origin: 'https://evil.test' })],
    ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['a sandboxed page', () => ({ origin: 'null' })],
    ['a name that an attacker points at this machine', () => ({ host: 'evil.test', origin: 'http://evil.test' })],
  ])('is refused to %s', async (_, headers) => {
    const { status, headers: answered } = await service.signIn({ api_key: service.key.text }, headers());
    expect([status, answered['set-cookie']]).toEqual([403, undefined]);
  });

  test.each([
    ['neither', {}],
    ['both', { api_key: 'a', code: 'b' }],
    ['a key that is no text', { api_key: 7 }],
  ])('needs a key or a code, not %s', async (_, body) => {
    expect((await service.signIn(body)).status).toBe(422);
  });

  test('keeps a hundred sessions of a key: the oldest ends', async () => {
    const key = await service.addKey('many', [service.tenant]);
    const cookies: string[] = [];
    for (let made = 0; made <= 100; made += 1) {
      service.clock.time += 1;
      cookies.push((await service.browser(key.text)).cookie);
    }
    const statuses = await Promise.all([cookies[0], cookies[1], cookies[100]].map((each) => read(each ?? '')));
    expect(statuses.map(({ status }) => status)).toEqual([401, 200, 200]);
  });
});

describe('a one-time link', () => {
  const used = { status: 401, body: { detail: expect.stringContaining('used already or has expired') } };

  test('signs in once', async () => {
    const code = service.sessions.issueCode();
    const [first, second] = [await service.signIn({ code }), await service.signIn({ code })];
    expect(first).toMatchObject({ status: 201, body: { key_id: service.key.id } });
    expect(second).toMatchObject(used);
    expect(cookieOf(second)).toBe('');
  });

  test('signs one of two in that use it at the same time', async () => {
    const code = service.sessions.issueCode();
    const both = await Promise.all([service.signIn({ code }), service.signIn({ code })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 401]));
  });

  test('expires after twelve hours, and is not guessed', async () => {
    const code = service.sessions.issueCode();
    service.clock.time += 12 * hour;
    expect(await service.signIn({ code })).toMatchObject(used);
    expect(await service.signIn({ code: 'guessed' })).toMatchObject(used);
  });
});

describe('the end of a session', () => {
  test('comes after twelve hours without a request, not after requests', async () => {
    const { cookie } = await service.browser();
    for (const hours of [11, 11]) {
      service.clock.time += hours * hour;
      expect((await read(cookie)).status).toBe(200);
    }
    service.clock.time += 12 * hour;
    expect(await read(cookie)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('has ended') } });
    expect(await service.store.deleteIdleSessions(12 * hour)).toBeGreaterThan(0);
  });

  test('comes also while an idle page polls', async () => {
    const { cookie } = await service.browser();
    const poll = () => service.send({ path: '/v1/session', headers: { cookie, 'x-landfall-background': '1' } });
    service.clock.time += 11 * hour;
    expect((await poll()).status).toBe(200);
    service.clock.time += hour;
    expect((await poll()).status).toBe(401);
  });

  test('comes at once when its key is revoked', async () => {
    const key = await service.addKey('brief', [service.tenant]);
    const { cookie } = await service.browser(key.text);
    expect((await read(cookie)).status).toBe(200);
    await service.store.revokeKey(key.id);
    expect((await read(cookie)).status).toBe(401);
    expect((await service.send({ path: '/v2/deployments', headers: { cookie } })).status).toBe(401);
  });

  test('comes by signing out, which clears the cookie', async () => {
    const { cookie, csrf_token } = await service.browser();
    const headers = { cookie, origin: service.origin, 'x-csrf-token': csrf_token };
    const out = await service.send({ method: 'DELETE', path: '/v1/session', headers });
    expect(out.status).toBe(204);
    expect(out.headers['set-cookie']).toEqual([
      `${cookie.split('=')[0]}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`,
    ]);
    expect((await read(cookie)).status).toBe(401);
  });
});

describe("an organisation's key", () => {
  const change = (to: string, { cookie, csrf_token }: { cookie: string; csrf_token: string }) =>
    service.send({
      method: 'PATCH',
      path: '/v1/session',
      headers: { cookie, origin: service.origin, 'x-csrf-token': csrf_token },
      body: { tenant_id: to },
    });
  const listed = async (cookie: string) =>
    JSON.stringify((await service.send({ path: '/v2/deployments', headers: { cookie } })).body);

  test('starts in its first tenant and chooses another one of its own', async () => {
    const key = await service.addKey('organisation', [service.tenant, service.other]);
    const browser = await service.browser(key.text);
    expect(browser).toMatchObject({ tenant_id: service.tenant, tenants: [{ name: 'one' }, { name: 'two' }] });
    expect(await listed(browser.cookie)).toContain(service.deployment);
    expect(await change(service.other.toUpperCase(), browser)).toMatchObject({
      status: 200,
      body: { tenant_id: service.other, csrf_token: browser.csrf_token },
    });
    expect(await listed(browser.cookie)).not.toContain(service.deployment);
  });

  test('chooses no tenant of others', async () => {
    const browser = await service.browser();
    expect((await change(service.other, browser)).status).toBe(403);
    expect(await read(browser.cookie)).toMatchObject({ body: { tenant_id: service.tenant } });
  });
});

describe('wrong keys', () => {
  const wrong = { api_key: 'lf_wrong' };
  test('slow their address down from the fifth on, until one is right', async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent += 1) statuses.push((await service.signIn(wrong)).status);
    expect(statuses).toEqual([401, 401, 401, 401]);
    const fifth = await service.signIn({ code: 'wrong as well' });
    expect(fifth).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      body: { detail: expect.stringContaining('try again in 1 second.') },
    });
    service.clock.time += 1_000;
    expect((await service.signIn(wrong)).headers['retry-after']).toBe('2');
    expect((await service.signIn({ api_key: service.key.text })).status).toBe(201);
    expect((await service.signIn(wrong)).status).toBe(401);
  });

  test.each([
    ['key', () => ({ api_key: service.key.text })],
    ['link', () => ({ code: service.sessions.issueCode() })],
  ])('lock nobody out who has a right %s', async (_, right) => {
    await Promise.all(Array.from({ length: 20 }, () => service.signIn(wrong)));
    expect((await service.signIn(right())).status).toBe(201);
  });

  test('count for the caller that the header names only behind a trusted proxy', async () => {
    for (const [trustedProxies, statuses] of [
      [['127.0.0.1'], [429, 401]],
      [[], [429, 429]],
    ] as const) {
      const behind = await openSessionFixture({ publicUrl: 'https://console.test', trustedProxies });
      const statusFor = async (forwardedFor: string) =>
        (await behind.signIn(wrong, { 'x-forwarded-for': forwardedFor })).status;
      try {
        for (let sent = 0; sent < 5; sent += 1) await statusFor(`10.0.0.${sent}, 192.0.2.1`);
        expect([await statusFor('192.0.2.1'), await statusFor('192.0.2.2')]).toEqual(statuses);
      } finally {
        await behind.close();
      }
    }
  });
});
