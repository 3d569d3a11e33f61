import { readFileSync } from 'node:fs';
import type { Problem } from '../diagnostics/problem.ts';

/** A file that a person named: its text, that it is not there, or why it could not be read. */
export type ReadFile = { kind: 'read'; text: string } | { kind: 'absent' } | { kind: 'unreadable'; problem: Problem };

/** Reads a text file, relative to the working directory. */
export function readTextFile(path: string): ReadFile {
  try {
    return { kind: 'read', text: readFileSync(path, 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'absent' };
    const why = error.code === 'EISDIR' ? 'this is a folder' : `this file cannot be read (${String(error.code)})`;
    return { kind: 'unreadable', problem: { file: path, line: 1, column: 1, field: '', message: why } };
  }
}
