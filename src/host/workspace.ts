import { readFileSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { maxCaseFileLength } from '../deploy/file/case-file.ts';
import type { CaseFiles } from '../deploy/file/cases.ts';
import { hasCode, missingCodes } from '../kit/errors.ts';
import { problemOfFile, type Problem } from '../kit/diagnostics/problem.ts';

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
      const isAbsent = hasCode(error, ...missingCodes);
      return {
        why: isAbsent ? 'names a file that is not there' : `names a file that cannot be read (${String(error.code)})`,
      };
    }
  },
};

/** What reading a file found: its text, no file, or why it could not be read. */
export type TextFile = { kind: 'read'; text: string } | { kind: 'absent' } | { kind: 'unreadable'; problem: Problem };

/** Reads a text file, relative to the working directory. */
export function readTextFile(path: string): TextFile {
  try {
    return { kind: 'read', text: readFileSync(path, 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (hasCode(error, ...missingCodes)) return { kind: 'absent' };
    const message = error.code === 'EISDIR' ? 'this is a folder' : `this file cannot be read (${String(error.code)})`;
    return { kind: 'unreadable', problem: problemOfFile(path, message) };
  }
}

/** GitHub finds the file of an annotation by slashes; a path of Windows may have been written with backslashes. */
export const annotated = (path: string, separator: string = sep): string =>
  path.replaceAll(separator, '/').replace(/^(?:\.\/+)+/, '');
