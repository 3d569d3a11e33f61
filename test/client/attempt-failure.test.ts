import { describe, expect, test } from 'vitest';
import { effectOfStatus, failureOfReply, kindOfStatus } from '../../src/client/attempt-failure.ts';
import { failureOf } from '../../src/client/send-failure.ts';

describe('a status', () => {
  test.each([
    [301, 'unreadable', 'unknown', false],
    [303, 'unreadable', 'unknown', false],
    [307, 'unreadable', 'none', false],
    [400, 'rejected', 'none', false],
    [401, 'unauthorized', 'none', false],
    [403, 'unauthorized', 'none', false],
    [404, 'missing', 'none', false],
    [405, 'missing', 'none', false],
    [408, 'rejected', 'unknown', true],
    [409, 'conflict', 'none', false],
    [413, 'rejected', 'none', false],
    [422, 'rejected', 'none', false],
    [425, 'rejected', 'none', true],
    [429, 'busy', 'none', true],
    [500, 'busy', 'unknown', true],
    [501, 'missing', 'none', false],
    [502, 'busy', 'unknown', true],
    [503, 'busy', 'unknown', true],
    [504, 'busy', 'unknown', true],
  ])('%d is %s, a write of it has the effect %s, and it may pass: %s', (status, kind, effect, passing) => {
    const reply = { kind: 'reply' as const, status, headers: {}, body: Buffer.from('') };
    expect(kindOfStatus(status)).toBe(kind);
    expect(effectOfStatus(status)).toBe(effect);
    expect(failureOfReply(reply, (text) => text, 0).isTransient).toBe(passing);
  });
});

describe('a network error', () => {
  const coded = (code: string, message = 'connect 10.0.0.1:443') => Object.assign(new Error(message), { code });

  test.each<[string, Error, string, string]>([
    ['refused', coded('ECONNREFUSED'), 'unreachable', 'the connection was refused (ECONNREFUSED)'],
    ['an unknown name', coded('ENOTFOUND'), 'unreachable', 'the name of the host was not found (ENOTFOUND)'],
    ['no connection in time', coded('UND_ERR_CONNECT_TIMEOUT'), 'unreachable', 'no connection in time'],
    ['a certificate that expired', coded('CERT_HAS_EXPIRED'), 'untrusted', 'NODE_EXTRA_CA_CERTS'],
    ['a certificate of another host', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'untrusted', 'not accepted'],
    ['several addresses, each refused', new AggregateError([coded('ECONNREFUSED')]), 'unreachable', 'was refused'],
    ['a nested one', new Error('outer', { cause: coded('ECONNRESET') }), 'unreachable', 'ECONNRESET'],
    ['an unknown one', new Error('token=hunter22'), 'unreachable', 'the connection failed'],
  ])('%s', (_, error, reason, words) => {
    const failure = failureOf(error, { sent: false });
    expect(failure).toMatchObject({ reason, sent: false, detail: expect.stringContaining(words) });
    expect(failure.detail).not.toMatch(/10\.0\.0\.1|hunter22/);
  });

  test('after the response headers is a cut connection', () => {
    expect(failureOf(coded('ECONNRESET'), { sent: true, status: 200 })).toMatchObject({ reason: 'cut', status: 200 });
  });
});
