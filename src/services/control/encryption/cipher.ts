import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ensureSecretFile, readSecretFile } from '../api-keys/secret-file.ts';

/** An AES-256 key, with the id by which an envelope names it. */
export interface EncryptionKey {
  /** 16 hexadecimal digits that are derived from the key and reveal nothing of it. */
  id: string;
  key: Buffer;
}

export class WrongKeyError extends Error {
  constructor(keyIds: readonly string[]) {
    super(
      `The secrets were encrypted with another key (${keyIds.join(', ')}). Start with that key in LANDFALL_SECRETS_KEY or in the file secrets-key of the data folder; to change keys, put the new one there and the former one in LANDFALL_SECRETS_KEYS_OLD.`,
    );
    this.name = 'WrongKeyError';
  }
}

/** The prefix of every envelope; after it the key's id, the nonce (12 bytes), and the text with its tag (16 bytes). */
const mark = 'sealed:v1:';
const shape = /^sealed:v1:([0-9a-f]{16}):([\w-]{16}):([\w-]{22,})$/;

export function encryptionKey(key: Buffer): EncryptionKey {
  const id = createHash('sha256').update('landfall sealing key').update(key).digest('hex').slice(0, 16);
  return { id, key };
}

/** The id of an envelope's key; undefined for other values. */
export const encryptionKeyOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(mark) ? shape.exec(value)?.[1] : undefined;

export const envelopePrefix = (keyId: string): string => `${mark}${keyId}:`;

/** Encrypts with one key, and decrypts with that key or a previous one. AES-256-GCM with a fresh nonce for every value. */
export function secretCipher(current: EncryptionKey, former: readonly EncryptionKey[] = []) {
  const keys = new Map([current, ...former].map(({ id, key }) => [id, key]));
  return {
    keyId: current.id,
    keyIds: [...keys.keys()],
    /** @param place the column of the value: an envelope can't be decrypted in another one. */
    encrypt(place: string, clear: string): string {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${envelopePrefix(current.id)}${nonce.toString('base64url')}:${sealed.toString('base64url')}`;
    },
    /** @throws WrongKeyError for an envelope of an unknown key, Error for one that was changed. */
    decrypt(place: string, envelope: string): string {
      const [, keyId = '', nonce = '', text = ''] = shape.exec(envelope) ?? [];
      const key = keys.get(keyId);
      if (!key) throw new WrongKeyError([keyId]);
      const sealed = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-16));
      return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]).toString('utf8');
    },
  };
}

export type SecretCipher = ReturnType<typeof secretCipher>;

/** The variables for keys: the current one, and earlier ones separated by commas. */
const presentVariable = 'LANDFALL_SECRETS_KEY';
const formerVariable = 'LANDFALL_SECRETS_KEYS_OLD';

interface SecretsKeySettings {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
  inUse: readonly string[];
}

/**
 * The cipher of this installation. Its key comes from the environment, else from `<dataDir>/secrets-key`, which the
 * first start creates, readable by its owner only. Where the environment has a key, the file's key counts as a previous
 * one, so that a key can move from the file to the environment.
 *
 * @throws WrongKeyError where values are encrypted and there is no key: a new one could not decrypt them.
 * @throws Error for an invalid key.
 */
export async function readCipher({ env, dataDir, inUse }: SecretsKeySettings): Promise<SecretCipher> {
  const file = join(dataDir, 'secrets-key');
  const former = (env[formerVariable] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => keyFrom(text, formerVariable));
  const given = env[presentVariable]?.trim() ?? '';
  const kept = await readSecretFile(file);
  if (given !== '') {
    return secretCipher(
      keyFrom(given, presentVariable),
      kept === undefined ? former : [...former, keyFrom(kept, file)],
    );
  }
  if (kept === undefined && inUse.some((id) => !former.some((key) => key.id === id))) throw new WrongKeyError(inUse);
  const line = kept ?? (await ensureSecretFile(file, randomBytes(32).toString('base64')));
  return secretCipher(keyFrom(line, file), former);
}

/** Reads a key of 32 bytes in base64, base64url or hexadecimal digits. */
function keyFrom(text: string, where: string): EncryptionKey {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(/^[\w+/-]{43}=?$/.test(text) ? text : '', 'base64');
  if (bytes.length === 32) return encryptionKey(bytes);
  throw new Error(
    `${where} holds no key of 32 bytes in base64 or hexadecimal digits. Make one with: openssl rand -base64 32`,
  );
}
