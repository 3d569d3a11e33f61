import { chownSync } from 'node:fs';

const nobodyUser = 65_534;

/**
 * Calls `work` without root's right to read and write everything: as root it runs as the user nobody, who owns these
 * folders.
 */
export async function asOrdinaryUser<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  for (const folder of folders) chownSync(folder, nobodyUser, nobodyUser);
  process.seteuid?.(nobodyUser);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
