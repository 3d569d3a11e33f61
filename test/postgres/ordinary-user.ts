import { chownSync } from 'node:fs';

const nobodyUser = 65_534;

/**
 * Does something without root's right to read and write everywhere: a run as root becomes nobody for as long as it takes,
 * to whom it hands these folders.
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
