import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signed content of an address: a tarball may be uploaded to this path until then. */
export interface SignedUpload {
  objectPath: string;
  /** Seconds since the epoch. */
  expires: number;
}

const signatureOf = (key: Buffer, { objectPath, expires }: SignedUpload): Buffer =>
  createHmac('sha256', key).update(`PUT\n${objectPath}\n${expires}`).digest();

/** The query that allows uploading one tarball to one path without an API key. */
export const signedQuery = (key: Buffer, upload: SignedUpload): string =>
  `expires=${upload.expires}&signature=${signatureOf(key, upload).toString('base64url')}`;

/** Checks an address by its query, in constant time. */
export function judgeSignature(
  key: Buffer,
  objectPath: string,
  { expires, signature }: { expires: string | undefined; signature: string | undefined },
  now: number,
): 'good' | 'forged' | 'expired' {
  if (expires === undefined || signature === undefined || !/^\d{1,12}$/.test(expires)) return 'forged';
  const sent = Buffer.from(signature, 'base64url');
  const ours = signatureOf(key, { objectPath, expires: Number(expires) });
  if (sent.length !== ours.length || !timingSafeEqual(sent, ours)) return 'forged';
  return now < Number(expires) * 1_000 ? 'good' : 'expired';
}
