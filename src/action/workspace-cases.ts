import { readFileSync, statSync } from 'node:fs';
import { longestCaseFile } from '../deploy/file/case-file.ts';
import type { CaseFiles } from '../deploy/file/cases.ts';

/** Reads files of cases below the working directory, which is the root of the repository. */
export const workspaceCases: CaseFiles = {
  read(path) {
    try {
      const found = statSync(path);
      if (!found.isFile()) return { why: 'must name a file' };
      // A character takes up to four bytes.
      if (found.size > 4 * longestCaseFile) return { why: `must name a file of at most ${longestCaseFile} characters` };
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
