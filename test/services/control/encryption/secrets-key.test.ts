import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { encryptionKey, readCipher } from '../../../../src/services/control/encryption/cipher.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'landfall-secrets-key-'));
  return () => rm(dataDir, { recursive: true });
});

const [one, two] = [randomBytes(32), randomBytes(32)];
const idOf = (key: Buffer) => encryptionKey(key).id;
const read = (env: Record<string, string> = {}, inUse: string[] = []) => readCipher({ env, dataDir, inUse });

test('the first start creates an owner-only key, and later ones use it', async () => {
  const first = await read();
  expect((await stat(join(dataDir, 'secrets-key'))).mode & 0o777).toBe(0o600);
  expect((await read({}, [first.keyId])).keyId).toBe(first.keyId);
});

test.each([
  ['base64', one.toString('base64')],
  ['base64 without padding', one.toString('base64').replace('=', '')],
  ['base64url', one.toString('base64url')],
  ['hexadecimal digits', one.toString('hex')],
  ['uppercase digits, with a newline', `${one.toString('hex').toUpperCase()}\n`],
])('accepts a key in %s from the environment', async (_, text) => {
  expect((await read({ LANDFALL_SECRETS_KEY: text })).keyId).toBe(idOf(one));
  expect(await readdir(dataDir)).toEqual([]);
});

test('decrypts with former keys', async () => {
  const old = `${one.toString('hex')}, ${two.toString('base64')}`;
  const secretCipher = await read({ LANDFALL_SECRETS_KEYS_OLD: old }, [idOf(one)]);
  expect(secretCipher.keyIds).toEqual([secretCipher.keyId, idOf(one), idOf(two)]);
});

test('a key moved from the file to the environment still decrypts', async () => {
  const { keyId } = await read();
  const moved = await read({ LANDFALL_SECRETS_KEY: one.toString('hex') }, [keyId]);
  expect(moved.keyIds).toEqual([idOf(one), keyId]);
});

test('does not create a new key where values are encrypted', async () => {
  await expect(read({}, [idOf(one)])).rejects.toThrow(`encrypted with another key (${idOf(one)})`);
  expect(await readdir(dataDir)).toEqual([]);
});

test.each([
  ['too short', { LANDFALL_SECRETS_KEY: 'c2hvcnQ=' }, 'LANDFALL_SECRETS_KEY holds no key'],
  ['too long', { LANDFALL_SECRETS_KEY: randomBytes(33).toString('base64') }, 'LANDFALL_SECRETS_KEY holds no key'],
  ['no key at all', { LANDFALL_SECRETS_KEY: 'correct horse' }, 'openssl rand -base64 32'],
  ['an invalid former one', { LANDFALL_SECRETS_KEYS_OLD: 'tr0ub4dor' }, 'LANDFALL_SECRETS_KEYS_OLD holds no key'],
])('reports a key that is %s without revealing it', async (_, env, words) => {
  await expect(read(env)).rejects.toThrow(words);
  await expect(read(env)).rejects.not.toThrow(Object.values(env)[0]);
});

test('reports a file that holds something else', async () => {
  await writeFile(join(dataDir, 'secrets-key'), 'letmein');
  await expect(read()).rejects.toThrow(`${join(dataDir, 'secrets-key')} holds no key`);
  expect(await readFile(join(dataDir, 'secrets-key'), 'utf8')).toBe('letmein');
});
