import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepFile, readKeptFile } from '../api-keys/kept-file.ts';
import { secretCipher, encryptionKey, WrongKeyError } from './cipher.ts';
import type { SecretCipher, EncryptionKey } from './cipher.ts';

/** The variables for keys: the current one, and former ones separated by commas. */
const presentVariable = 'LANDFALL_SECRETS_KEY';
const formerVariable = 'LANDFALL_SECRETS_KEYS_OLD';

/** The sources of the keys, and the keys in use. */
export interface SecretsKeySettings {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
  /** The ids of the keys of existing envelopes. */
  inUse: readonly string[];
}

/**
 * The cipher of this installation. Its key comes from the environment, else from `<dataDir>/secrets-key`, which the first
 * start creates, readable by its owner only. Where the environment has a key, the file's key counts as a former one, so
 * that a key can move from the file to the environment.
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
  const kept = await readKeptFile(file);
  if (given !== '') {
    return secretCipher(
      keyFrom(given, presentVariable),
      kept === undefined ? former : [...former, keyFrom(kept, file)],
    );
  }
  if (kept === undefined && inUse.some((id) => !former.some((key) => key.id === id))) throw new WrongKeyError(inUse);
  const line = kept ?? (await keepFile(file, randomBytes(32).toString('base64')));
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
