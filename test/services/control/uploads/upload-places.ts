import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { ControlStore } from '../../../../src/services/control/store/store.ts';
import { createUploads } from '../../../../src/services/control/uploads/uploads.ts';
import type { Uploads } from '../../../../src/services/control/uploads/uploads.ts';

/** Uploads bytes to an address, as a tarball unless a header gives another type. */
export type PutTarball = (url: string, body: Uint8Array, headers?: Record<string, string>) => Promise<Response>;

/** The request of an upload. */
export const tarball = (body: Uint8Array, headers: Record<string, string> = {}): RequestInit => ({
  method: 'PUT',
  body: Buffer.from(body),
  headers: { 'content-type': 'application/gzip', ...headers },
});

/** Storage for uploads in a folder of its own. */
export function openUploads({ uploads: store }: Pick<ControlStore, 'uploads'>): {
  uploads: Uploads;
  dataDir: string;
  close: () => void;
} {
  const dataDir = mkdtempSync(join(tmpdir(), 'landfall-uploads-'));
  return {
    dataDir,
    uploads: createUploads({ store, dataDir, key: Buffer.alloc(32, 7), clock: systemClock }),
    close: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}
