import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** An AES-256 key, with the id by which an envelope names it. */
export interface EncryptionKey {
  /** 16 hexadecimal digits that are derived from the key and reveal nothing of it. */
  id: string;
  /** 32 bytes: a secret. */
  key: Buffer;
}

/** Encrypts with one key, and decrypts with that key or a former one. */
export interface SecretCipher {
  /** The id of the key that encrypts. */
  keyId: string;
  /** The ids of all keys that can decrypt. */
  keyIds: readonly string[];
  /** @param place the column of the value: an envelope can't be decrypted in another one. */
  seal(place: string, clear: string): string;
  /** @throws WrongKeyError for an envelope of an unknown key, Error for one that was changed. */
  open(place: string, envelope: string): string;
}

/** A value was encrypted with an unknown key. */
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

/** Creates a key with its id. */
export function encryptionKey(key: Buffer): EncryptionKey {
  const id = createHash('sha256').update('landfall sealing key').update(key).digest('hex').slice(0, 16);
  return { id, key };
}

/** The id of an envelope's key; undefined for other values. */
export const sealedBy = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(mark) ? shape.exec(value)?.[1] : undefined;

/** The prefix of every envelope of a key. */
export const beginOf = (keyId: string): string => `${mark}${keyId}:`;

/** AES-256-GCM with a fresh nonce for every value. */
export function secretCipher(current: EncryptionKey, former: readonly EncryptionKey[] = []): SecretCipher {
  const keys = new Map([current, ...former].map(({ id, key }) => [id, key]));
  return {
    keyId: current.id,
    keyIds: [...keys.keys()],
    seal(place, clear) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${beginOf(current.id)}${nonce.toString('base64url')}:${sealed.toString('base64url')}`;
    },
    open(place, envelope) {
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
