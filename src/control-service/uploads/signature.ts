import { createHmac, timingSafeEqual, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepFile, readKeptFile } from '../api-keys/kept-file.ts';

/** The signed content of an address: a tarball may be uploaded to this path until then. */
export interface SignedUpload {
  objectPath: string;
  /** Seconds since the epoch. */
  expires: number;
}

/** Whether an address is valid, or why not. */
export type SignatureVerdict = 'good' | 'forged' | 'expired';

const signatureOf = (key: Buffer, { objectPath, expires }: SignedUpload): Buffer =>
  createHmac('sha256', key).update(`PUT\n${objectPath}\n${expires}`).digest();

/** The query that allows uploading one tarball to one path without an API key. */
export function signedQuery(key: Buffer, upload: SignedUpload): string {
  return `expires=${upload.expires}&signature=${signatureOf(key, upload).toString('base64url')}`;
}

/** Checks an address by its query, in constant time. */
export function judgeSignature(
  key: Buffer,
  objectPath: string,
  { expires, signature }: { expires: string | undefined; signature: string | undefined },
  now: number,
): SignatureVerdict {
  if (expires === undefined || signature === undefined || !/^\d{1,12}$/.test(expires)) return 'forged';
  const sent = Buffer.from(signature, 'base64url');
  const ours = signatureOf(key, { objectPath, expires: Number(expires) });
  if (sent.length !== ours.length || !timingSafeEqual(sent, ours)) return 'forged';
  return now < Number(expires) * 1_000 ? 'good' : 'expired';
}

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
