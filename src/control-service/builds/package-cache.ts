import { chmod, mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { changeOwnerIfNeeded } from '../isolation/change-owner.ts';

/** The folder of the package managers' downloads. */
export const cachesIn = (dataDir: string): string => join(dataDir, 'npm-cache');

/**
 * Returns npm's download cache for a build; creates it where needed. The cache serves a package to any reader by its hash,
 * so tenants must not share one, or their private packages would leak. Builds can write to it, so each build user has its
 * own as well.
 */
export async function packageCache(dataDir: string, tenantId: string, user: ProcessUser | undefined): Promise<string> {
  const all = cachesIn(dataDir);
  await mkdir(all, { recursive: true });
  await chmod(all, 0o711);
  const own = join(all, user === undefined ? tenantId : `${tenantId}-${user.uid}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  if (user) await changeOwnerIfNeeded(own, user);
  const now = new Date();
  await utimes(own, now, now);
  return own;
}
