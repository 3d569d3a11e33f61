import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepFile, readKeptFile } from '../api-keys/kept-file.ts';

/**
 * The key that the tokens of tracing projects are derived from: made at the first start and kept in
 * `<dataDir>/tracing-key`, which only its owner can read. Without the file a new one is made, and agents get new tokens
 * when they are started next.
 *
 * @throws Error where the file holds something else.
 */
export async function keepTracingKey(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'tracing-key');
  const line = (await readKeptFile(file)) ?? (await keepFile(file, randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(line)) throw new Error(`${file} holds no key. Remove the file to have a new one made.`);
  return Buffer.from(line, 'hex');
}
