import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepFile, readKeptFile } from '../api-keys/kept-file.ts';

/**
 * The key that signs upload addresses: created at the first start in `<dataDir>/upload-key`, readable by its owner only.
 * Without the file a new one is created, and earlier addresses become invalid.
 *
 * @throws Error where the file holds something else.
 */
export async function keepUploadKey(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'upload-key');
  const line = (await readKeptFile(file)) ?? (await keepFile(file, randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(line)) throw new Error(`${file} holds no key. Remove the file to have a new one made.`);
  return Buffer.from(line, 'hex');
}
