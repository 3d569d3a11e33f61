import type { EntryOptions } from '../deploy/file/entry-options.ts';

/** The file of the predicate alone, beside that of its receipt. */
export const predicatePathOf = (receiptPath: string): string => `${receiptPath.replace(/\.json$/, '')}.predicate.json`;

/** The files that a run writes: they are no part of a folder that is uploaded, although they may lie in it. */
export const ownFiles = ({ journalPath, receiptPath, planPath }: EntryOptions): string[] =>
  [journalPath, planPath, receiptPath, receiptPath && predicatePathOf(receiptPath)].flatMap((path) => path ?? []);
