import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that is there whole or not at all, and its folder. @param mode who may read the file */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: mode | ((mode & 0o444) >> 2) });
  const next = `${path}.${process.pid}`;
  try {
    await writeFile(next, content, { mode, flush: true });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
