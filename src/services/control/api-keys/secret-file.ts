import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { hasCode } from '../../../kit/errors.ts';

/** Reads a file of one line that only its owner may read, and corrects its mode; undefined where there is none. */
export async function readSecretFile(file: string): Promise<string | undefined> {
  try {
    await chmod(file, 0o600);
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Reads such a file, or creates it with this line. Of several concurrent creators one wins, and all get its line. */
export async function ensureSecretFile(file: string, line: string): Promise<string> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${line}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link, unlike a rename, never replaces an existing file, and shows the new one only when it is complete.
    await link(draft, file);
    return line;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  return (await readSecretFile(file)) ?? ensureSecretFile(file, line);
}

/** The secret of 32 bytes in such a file, in hexadecimal; made where there is none. @throws Error for anything else. */
export async function ensureSecret(file: string): Promise<Buffer> {
  const line = (await readSecretFile(file)) ?? (await ensureSecretFile(file, randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(line)) throw new Error(`${file} holds no key. Remove the file to have a new one made.`);
  return Buffer.from(line, 'hex');
}
