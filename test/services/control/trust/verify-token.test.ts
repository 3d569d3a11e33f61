import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { exportSPKI } from 'jose';
import { createTokenVerifier } from '../../../../src/services/control/trust/verify-token.ts';
import { makeKey, startIssuer, type Issuer } from '../../../../src/demo/token-issuer.ts';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());
beforeEach(() => {
  vi.useRealTimers();
  Object.assign(issuer.state, { status: 200, issuer: issuer.url, keysAnswer: undefined });
  issuer.requested.length = 0;
});

const clock = { now: () => Date.now() };
const verifier = (issuers = [issuer.url]) => createTokenVerifier({ issuers, clock });
const minute = 60_000;

test('a token of an issuer gives its claims', async () => {
  const token = await issuer.sign({ repository_id: '7' });
  expect(await verifier()(token)).toMatchObject({ ok: true, claims: { sub: 'repo:acme/support', repository_id: '7' } });
});

test('the keys of an issuer are read once', async () => {
  const verify = verifier();
  for (let count = 0; count < 3; count += 1) expect(await verify(await issuer.sign())).toMatchObject({ ok: true });
  expect(issuer.requested).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('a rotated key is found', async () => {
  const verify = verifier();
  await verify(await issuer.sign());
  await issuer.rotate();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minute });
  expect(await verify(await issuer.sign())).toMatchObject({ ok: true });
});

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test.each<[what: string, forge: () => Promise<string>, words: string]>([
  ['no token', async () => 'lf_key', 'no JSON Web Token'],
  ['an expired token', () => issuer.sign({}, { at: Date.now() - 10 * minute }), 'has expired'],
  ['a token of the future', () => issuer.sign({ nbf: Math.floor(Date.now() / 1_000) + 120 }), 'not valid'],
  ['a token that is good for days', async () => issuer.sign({ iat: 1, exp: 9_999_999_999 }), 'expired'],
  ['a token without an end', () => issuer.sign({ exp: undefined }), 'not valid'],
  ['a token without a subject', () => issuer.sign({ sub: undefined }), 'not valid'],
  ['a token of another key', async () => issuer.sign({}, { key: await makeKey('first') }), 'not valid'],
  ['a token of another issuer', () => issuer.sign({ iss: 'https://issuer.test' }), 'are not accepted'],
  ['an issuer that only begins alike', () => issuer.sign({ iss: `${issuer.url}.test` }), 'are not accepted'],
  [
    'a token without a signature',
    async () => {
      const [, content = ''] = (await issuer.sign()).split('.');
      return `${encoded({ alg: 'none' })}.${content}.`;
    },
    'not valid',
  ],
  [
    'a token that is signed with the public key as a secret',
    async () => {
      const [, content = ''] = (await issuer.sign()).split('.');
      const signed = `${encoded({ alg: 'HS256', kid: 'first' })}.${content}`;
      const { publicKey } = await makeKey('first');
      const signature = createHmac('sha256', await exportSPKI(publicKey))
        .update(signed)
        .digest('base64url');
      return `${signed}.${signature}`;
    },
    'not valid',
  ],
  [
    'a token with other content under the same signature',
    async () => {
      const [header = '', , signature = ''] = (await issuer.sign()).split('.');
      const [, content = ''] = (await issuer.sign({ repository_id: '8' })).split('.');
      return `${header}.${content}.${signature}`;
    },
    'not valid',
  ],
])('refuses %s', async (_, forge, words) => {
  const status = words === 'are not accepted' ? 403 : 401;
  expect(await verifier()(await forge())).toEqual({ ok: false, status, detail: expect.stringContaining(words) });
});

test('nothing is requested from an issuer that is not accepted', async () => {
  expect(await verifier(['https://issuer.test'])(await issuer.sign())).toMatchObject({ ok: false, status: 403 });
  expect(issuer.requested).toEqual([]);
});

test('an issuer that fails is said, and not asked again at once', async () => {
  issuer.state.status = 500;
  const verify = verifier();
  const failed = { ok: false, status: 502, detail: expect.stringContaining("can't be read") };
  expect(await verify(await issuer.sign())).toEqual(failed);
  expect(await verify(await issuer.sign())).toEqual(failed);
  expect(issuer.requested).toHaveLength(1);
});

test.each<[what: string, keys: { status: number; body: string }]>([
  ['an error', { status: 500, body: 'broken' }],
  ['a page', { status: 200, body: '<html>' }],
  ['too much', { status: 200, body: JSON.stringify({ keys: [], more: 'x'.repeat(300_000) }) }],
])('keys that answer with %s are not asked for again at once', async (_, keys) => {
  issuer.state.keysAnswer = keys;
  const verify = verifier();
  for (let count = 0; count < 3; count += 1) {
    expect(await verify(await issuer.sign())).toMatchObject({ ok: false, status: 502 });
  }
  expect(issuer.requested).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('keys that were read stay good while the issuer fails', async () => {
  const verify = verifier();
  expect(await verify(await issuer.sign())).toMatchObject({ ok: true });
  issuer.state.status = 500;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minute });
  const unknown = await issuer.sign({}, { key: await makeKey('unknown') });
  expect(await verify(unknown)).toMatchObject({ ok: false, status: 502 });
  expect(await verify(await issuer.sign())).toMatchObject({ ok: true });
});

test.each([
  ['an issuer that is a number', { iss: 5 }],
  ['an audience that is no text', { aud: { toString: 1 } }],
  ['an end in centuries', { exp: 1e12 }],
])('a signed token with %s is not valid', async (_, claims) => {
  expect(await verifier()(await issuer.sign(claims))).toMatchObject({ ok: false, status: 401 });
});

test('a configuration of another issuer is refused', async () => {
  issuer.state.issuer = 'https://issuer.test';
  expect(await verifier()(await issuer.sign())).toMatchObject({ ok: false, status: 502 });
});
