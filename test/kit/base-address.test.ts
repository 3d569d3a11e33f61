import { describe, expect, test } from 'vitest';
import { isLoopback, readAddress } from '../../src/kit/base-address.ts';

describe('a base address', () => {
  test.each([
    ['without a path has no prefix', 'https://api.example.test', 'https://api.example.test', ''],
    ['with a slash at its end has none either', 'https://api.example.test/', 'https://api.example.test', ''],
    ['keeps its path as the prefix', 'https://example.test/api-host', 'https://example.test', '/api-host'],
    ['loses the slashes after its prefix', 'https://example.test/a/b//', 'https://example.test', '/a/b'],
    ['keeps its port', ' https://example.test:8443/x ', 'https://example.test:8443', '/x'],
    ['may be plain http on loopback', 'http://127.0.0.1:8123', 'http://127.0.0.1:8123', ''],
  ])('%s', (_, written, origin, prefix) => {
    expect(readAddress(written)).toMatchObject({ ok: true, address: { origin, prefix } });
  });

  test('may be plain http off loopback if allowed', () => {
    expect(readAddress('http://inside.example.test', { allowHttp: true })).toMatchObject({ ok: true });
  });

  test.each([
    ['is no address', 'api.example.test', 'not an address'],
    ['is no web address', 'ftp://example.test', 'begin with https'],
    ['is plain http off loopback', 'http://example.test', 'use https, or set allow-http'],
    ['holds a password', 'https://user:hunter2@example.test', 'a user or a password'],
    ['holds a query', 'https://example.test/?key=hunter2', 'a ? or a #'],
    ['holds a fragment', 'https://example.test/#hunter2', 'a ? or a #'],
  ])('is refused, without showing a secret, if it %s', (_, written, words) => {
    const read = readAddress(written);
    expect(read).toMatchObject({ ok: false, problem: expect.stringContaining(words) });
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });

  test.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['localhost', true],
    ['[::1]', true],
    ['[::ffff:7f00:1]', true],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
    ['localhost.example.test', false],
    ['127.0.0.1.example.test', false],
    ['[::2]', false],
  ])('%s: loopback is %s', (hostname, expected) => {
    expect(isLoopback(hostname)).toBe(expected);
  });

  test.each(['http://127.1', 'http://0x7f.0.0.1', 'http://2130706433', 'http://[::FFFF:127.0.0.1]'])(
    '%s is loopback in another spelling',
    (written) => expect(readAddress(written)).toMatchObject({ ok: true, address: { loopback: true } }),
  );
});
