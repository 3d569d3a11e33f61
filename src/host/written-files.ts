import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EntryOptions } from '../deploy/file/entry-options.ts';

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

/** The file of the predicate alone, beside that of its receipt. */
export const predicatePathOf = (receiptPath: string): string => `${receiptPath.replace(/\.json$/, '')}.predicate.json`;

/** The files that a run writes: they are no part of a folder that is uploaded, although they may lie in it. */
export const ownFiles = ({ journalPath, receiptPath, planPath }: EntryOptions): string[] =>
  [journalPath, planPath, receiptPath, receiptPath && predicatePathOf(receiptPath)].flatMap((path) => path ?? []);
