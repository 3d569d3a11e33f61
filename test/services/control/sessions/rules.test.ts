import { describe, expect, test } from 'vitest';
import {
  createAttemptThrottle,
  decideWrongAttempt,
  delayAfter,
  resetAfterMs,
  callerAddress,
} from '../../../../src/services/control/sessions/attempts.ts';
import {
  sessionCookie,
  affectsSession,
  withoutSessionCookies,
} from '../../../../src/services/control/sessions/cookie.ts';
import { classifySource } from '../../../../src/services/control/sessions/own-origin.ts';

describe('wrong attempts', () => {
  test('double the delay from the fifth on, up to a minute', () => {
    expect([1, 4, 5, 6, 7, 10, 11, 12, 5_000].map(delayAfter)).toEqual([
      0, 0, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });

  test.each<[what: string, count: number, sinceMs: number, decision: object]>([
    ['the fifth at once', 4, 0, { waitMs: 1_000, wrong: { count: 5, at: 1_000 } }],
    ['one during the delay', 5, 400, { waitMs: 600, wrong: { count: 5, at: 1_000 } }],
    ['one at its end', 5, 1_000, { waitMs: 2_000, wrong: { count: 6, at: 2_000 } }],
    ['one within a long delay', 50, 59_999, { waitMs: 1, wrong: { count: 50, at: 1_000 } }],
    ['one after a long pause, as the first', 50, resetAfterMs, { waitMs: 0, wrong: { count: 1 } }],
  ])('decide about %s', (_, count, sinceMs, decision) => {
    expect(decideWrongAttempt({ count, at: 1_000 }, 1_000 + sinceMs)).toMatchObject(decision);
  });

  test('count for their address only, also those at the same time, and not where the service fails', async () => {
    const attempts = createAttemptThrottle({ now: () => 0 });
    const send = (address: string, value?: string) => attempts.attempt(address, async () => value);
    const many = (value?: string) => Promise.all(Array.from({ length: 7 }, () => send('a', value)));
    await expect(attempts.attempt('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await many('right')).toEqual(Array.from({ length: 7 }, () => ({ kind: 'right', value: 'right' })));
    const waits = [0, 0, 0, 0, 1_000, 1_000, 1_000];
    expect(await many()).toEqual(waits.map((waitMs) => ({ kind: 'wrong', waitMs })));
    expect(await send('b')).toEqual({ kind: 'wrong', waitMs: 0 });
  });

  test('neither keep a right one out nor hold it up, whatever comes from its address', async () => {
    const attempts = createAttemptThrottle({ now: () => 0 });
    const held = Promise.withResolvers<undefined>();
    const pending = attempts.attempt('a', () => held.promise);
    for (let sent = 0; sent < 100; sent += 1) await attempts.attempt('a', async () => undefined);
    expect(await attempts.attempt('a', async () => 'right')).toEqual({ kind: 'right', value: 'right' });
    held.resolve(undefined);
    expect(await pending).toEqual({ kind: 'wrong', waitMs: 0 });
  });
});

test.each([
  [undefined, '', 'landfall_session_a1=T; Path=/; HttpOnly; SameSite=Strict'],
  [undefined, '/api-host', 'landfall_session_a1=T; Path=/api-host; HttpOnly; SameSite=Strict'],
  ['https://a.test', '', '__Host-landfall_session_a1=T; Path=/; HttpOnly; SameSite=Strict; Secure'],
  ['https://a.test/b', '/c', 'landfall_session_a1=T; Path=/b; HttpOnly; SameSite=Strict; Secure'],
  ['http://a.test', '', 'landfall_session_a1=T; Path=/; HttpOnly; SameSite=Strict'],
])('the cookie of a service at %s with the base path "%s"', (publicUrl, basePath, cookie) => {
  expect(sessionCookie({ publicUrl, basePath, serviceId: 'a1' }).set('T')).toBe(cookie);
});

test('services of one host have cookies of their own, and agents get none of them', () => {
  const [one, other] = ['a1', 'b2'].map((serviceId) =>
    sessionCookie({ publicUrl: undefined, basePath: '', serviceId }),
  );
  const tokens = ['x'.repeat(43), 'y'.repeat(43)];
  const header = tokens.map((token, at) => (at === 0 ? one : other)?.set(token).split(';')[0]).join('; ');
  expect([one, other].map((each) => each?.tokensIn(header))).toEqual(tokens.map((token) => [token]));
  expect(withoutSessionCookies(`${header}; own=1`)).toBe('own=1');
  expect(affectsSession(other?.clear ?? '')).toBe(true);
});

test.each<[proxies: string[], peer: string, forwardedFor: string | undefined, address: string]>([
  [['127.0.0.1'], '127.0.0.1', '192.0.2.1', '192.0.2.1'],
  [['127.0.0.1'], '::ffff:127.0.0.1', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
  [['::ffff:10.0.0.1'], '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  [['10.0.0.1', '0:0::1'], '::1', '203.0.113.9,[2001:db8::1]:4711', '2001:db8::1'],
  [['127.0.0.1'], '127.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
  [['127.0.0.1'], '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
  [['127.0.0.1'], '127.0.0.1', undefined, '127.0.0.1'],
  [['127.0.0.1'], '127.0.0.2', '192.0.2.1', '127.0.0.2'],
  [[], '127.0.0.1', '192.0.2.1', '127.0.0.1'],
  [['127.0.0.1'], '', '192.0.2.1', ''],
  [['fe80::1%eth0'], 'fe80::1%eth0', '192.0.2.1', '192.0.2.1'],
  [['fe80::1'], 'fe80::1%eth1', '192.0.2.1', 'fe80::1%eth1'],
])('behind the proxies %j wrong keys from %s for %s count for %s', (trustedProxies, peer, forwardedFor, address) => {
  expect(callerAddress({ peer, forwardedFor, trustedProxies })).toBe(address);
});

describe('the source of a request', () => {
  test.each<[host: string | undefined, origin: string | undefined, verdict: string]>([
    ['127.0.0.1:8420', 'http://127.0.0.1:8420', 'own'],
    ['localhost:8420', 'http://localhost:8420', 'own'],
    ['LOCALHOST', 'http://localhost', 'own'],
    ['[::1]:80', 'http://[::1]', 'own'],
    ['127.0.0.1:8420', undefined, 'unnamed'],
    ['127.0.0.1:8420', 'http://localhost:8420', 'foreign-origin'],
    ['127.0.0.1:8420', 'file://', 'foreign-origin'],
    ['127.0.0.1:8420', 'http://127.0.0.1:8420@evil.test', 'foreign-origin'],
    ['rebound.test:8420', 'http://rebound.test:8420', 'foreign-host'],
    ['127.0.0.1:8420@evil.test', undefined, 'foreign-host'],
    ['192.168.1.2:8420', undefined, 'foreign-host'],
    [undefined, undefined, 'foreign-host'],
  ])('without a public address: Host %s, Origin %s', (host, origin, verdict) => {
    expect(classifySource({ host, origin }, undefined)).toBe(verdict);
  });

  test.each<[host: string, origin: string | undefined, verdict: string]>([
    ['a.test', 'https://a.test', 'own'],
    ['upstream:8420', 'https://a.test', 'own'],
    ['127.0.0.1:8420', 'http://127.0.0.1:8420', 'own'],
    ['a.test', undefined, 'unnamed'],
    ['a.test', 'http://a.test', 'foreign-origin'],
    ['evil.test', 'http://evil.test', 'foreign-origin'],
  ])('with a public address: Host %s, Origin %s', (host, origin, verdict) => {
    expect(classifySource({ host, origin }, 'https://a.test/base')).toBe(verdict);
  });
});
