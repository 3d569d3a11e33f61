import { chmod, mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessUser } from '../compute/leashed-process.ts';
import { handOverOnce } from '../isolation/hand-over.ts';

/** Where what package managers downloaded is kept. */
export const cachesIn = (dataDir: string): string => join(dataDir, 'npm-cache');

/**
 * The folder in which npm keeps what it downloads for a build; made where it is not there. It answers by the hash of a
 * package, whoever asks, so a tenant's private packages must not lie where another tenant's builds ask; and whoever
 * builds may write to it, so each user of builds has its own.
 */
export async function packageCache(dataDir: string, tenantId: string, user: ProcessUser | undefined): Promise<string> {
  const all = cachesIn(dataDir);
  await mkdir(all, { recursive: true });
  await chmod(all, 0o711);
  const own = join(all, user === undefined ? tenantId : `${tenantId}-${user.uid}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  if (user) await handOverOnce(own, user);
  const now = new Date();
  await utimes(own, now, now);
  return own;
}
