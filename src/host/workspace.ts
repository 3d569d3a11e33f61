import { readFileSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { maxCaseFileLength } from '../deploy/file/case-file.ts';
import type { CaseFiles } from '../deploy/file/cases.ts';

/** Reads files of cases below the working directory, which is the root of the repository. */
export const workspaceCases: CaseFiles = {
  read(path) {
    try {
      const found = statSync(path);
      if (!found.isFile()) return { why: 'must name a file' };
      // A character takes up to four bytes.
      if (found.size > 4 * maxCaseFileLength)
        return { why: `must name a file of at most ${maxCaseFileLength} characters` };
      return { text: readFileSync(path, 'utf8') };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      const isAbsent = error.code === 'ENOENT' || error.code === 'ENOTDIR';
      return {
        why: isAbsent ? 'names a file that is not there' : `names a file that cannot be read (${String(error.code)})`,
      };
    }
  },
};

/** What reading a file of the workspace found: its text and its path for annotations, no file, or a reason. */
export type WorkspaceFile =
  | { kind: 'read'; file: { text: string; path: string } }
  | { kind: 'absent' }
  /** One clause that goes on from the name of the input. */
  | { kind: 'unreadable'; why: string };

/** Reads a text file, relative to the workspace, which is the working directory of a step. */
export function readWorkspaceFile(path: string): WorkspaceFile {
  try {
    return { kind: 'read', file: { text: readFileSync(path, 'utf8'), path: annotated(path, sep) } };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'absent' };
    const why = error.code === 'EISDIR' ? 'names a folder' : `names a file that cannot be read (${String(error.code)})`;
    return { kind: 'unreadable', why };
  }
}

/** GitHub finds the file of an annotation by slashes; a path of Windows may have been written with backslashes. */
export const annotated = (path: string, separator: string): string =>
  path.replaceAll(separator, '/').replace(/^(?:\.\/+)+/, '');
