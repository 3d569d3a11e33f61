import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../kit/errors.ts';
import { namesIn } from '../folders.ts';
import type { Clock } from '../../../kit/clock.ts';
import { maxTarballSize } from '../../../kit/archive/tarball.ts';
import type { UploadStore } from './repository.ts';
import { receiveTarball, type IncomingTarball, type ReceiveResult } from './receive.ts';
import { randomBytes, createHmac, timingSafeEqual } from 'node:crypto';

/** The folder of all uploads, below the data folder and below the service's address. */
const uploadsFolder = 'uploads';
/** How long (ms) an address serves. */
const serveMs = 15 * 60_000;

/** The file of an issued object path's tarball, once it is stored. Look up a caller's path first. */
export const uploadedFile = (dataDir: string, objectPath: string): string => join(dataDir, objectPath);

export interface UploadsDependencies {
  store: UploadStore;
  dataDir: string;
  /** What addresses are signed with: a secret. */
  key: Buffer;
  clock: Clock;
  /** The most bytes that are taken; `maxTarballSize` when absent. */
  largest?: number;
}

export interface UploadRequest extends IncomingTarball {
  objectPath: string;
  expires: string | undefined;
  signature: string | undefined;
}

/** The outcome of an upload: what was received, or why the address is rejected. */
export type UploadResult = ReceiveResult | { kind: 'forged' | 'expired' | 'used' | 'in-use' };

/** Receives source tarballs (docs/design/contract.md#endpoints). */
export type Uploads = ReturnType<typeof createUploads>;

/** Creates the receiver of uploads. Only one may exist for a data folder. */
export function createUploads(settings: UploadsDependencies) {
  const { store, dataDir, key, clock, largest = maxTarballSize } = settings;
  const underWay = new Set<string>();

  async function receive(put: UploadRequest): Promise<UploadResult> {
    const upload = await store.find(put.objectPath);
    if (!upload) return { kind: 'unknown' };
    if (upload.state !== 'issued') return { kind: 'used' };
    const file = uploadedFile(dataDir, upload.objectPath);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const received = await receiveTarball(file, put, largest);
    if (received.kind !== 'received') return received;
    if (await store.noteStored(upload.objectPath, received)) return received;
    // The deletion of its deployment was requested during the upload, and may have removed the folder already.
    await rm(file, { force: true });
    await removeIfEmpty(dirname(file));
    return { kind: 'unknown' };
  }

  return {
    largest,
    /** Issues an address that works once, until it expires, for anyone who has it. @param book where it is recorded. */
    async handOut(deploymentId: string, baseUrl: string, book: Pick<UploadStore, 'add'> = store) {
      const objectPath = `${uploadsFolder}/${deploymentId}/${randomBytes(16).toString('hex')}.tar.gz`;
      const expires = Math.floor((clock.now() + serveMs) / 1_000);
      await book.add({ objectPath, deploymentId, expiresAt: new Date(expires * 1_000) });
      return {
        upload_url: `${baseUrl}/${objectPath}?${signedQuery(key, { objectPath, expires })}`,
        object_path: objectPath,
      };
    },

    /**
     * Receives a tarball. After a failed attempt (cut, too large, wrong) the address may be used again until it
     * expires: nothing is left of the attempt. A concurrent attempt is rejected.
     */
    async put(put: UploadRequest): Promise<UploadResult> {
      const verdict = judgeSignature(key, put.objectPath, put, clock.now());
      if (verdict !== 'good') return { kind: verdict };
      if (underWay.has(put.objectPath)) return { kind: 'in-use' };
      underWay.add(put.objectPath);
      try {
        return await receive(put);
      } finally {
        underWay.delete(put.objectPath);
      }
    },

    /** Removes what a kill left: parts of uploads, and files that nothing knows. To be called once, before any `put`. */
    async sweep(): Promise<void> {
      const stored = new Set(await store.stored());
      const root = join(dataDir, uploadsFolder);
      for (const deployment of await namesIn(root)) {
        for (const name of await namesIn(join(root, deployment))) {
          if (!stored.has(`${uploadsFolder}/${deployment}/${name}`)) {
            await rm(join(root, deployment, name), { force: true, recursive: true });
          }
        }
        await removeIfEmpty(join(root, deployment));
      }
    },

    /** Removes tarballs that were stored longer ago than this and that nothing needs; how many. */
    async removeOld(ageMs: number): Promise<number> {
      await store.deleteUnused(new Date(clock.now() - ageMs));
      const spare = await store.spare(new Date(clock.now() - ageMs));
      for (const objectPath of spare) {
        // Recorded first: a path whose file is gone must no longer be accepted.
        await store.noteRemoved(objectPath);
        await rm(uploadedFile(dataDir, objectPath), { force: true, recursive: true });
      }
      return spare.length;
    },
  };
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error;
  }
}

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
