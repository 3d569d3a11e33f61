import { posix } from 'node:path';
import type { CaseFiles } from '../../src/config/cases.ts';
import { FileTooLarge } from '../github/github-api.ts';

/** The files of cases that a deploy file names, by their paths. Plain data: it goes to a worker thread. */
export type CaseTexts = Readonly<Record<string, ReturnType<CaseFiles['read']>>>;

/** The most files of cases read for one deploy file: each costs a request to GitHub. */
export const mostCaseFiles = 20;

/** Reads files of cases from a repository, each as the deploy file was read. */
export async function readCaseTexts(
  paths: readonly string[],
  readFile: (path: string) => Promise<string | undefined>,
): Promise<CaseTexts> {
  const texts = new Map<string, CaseTexts[string]>();
  for (const path of paths) {
    try {
      const text = await readFile(posix.normalize(path));
      texts.set(path, text === undefined ? { why: 'names a file that is not there' } : { text });
    } catch (error) {
      if (!(error instanceof FileTooLarge)) throw error;
      texts.set(path, { why: `names a file that is not read: ${error.why}` });
    }
  }
  return Object.fromEntries(texts);
}

const tooMany = `is one of more than ${mostCaseFiles} files of cases. Put the cases of several into one file`;

/** The files of cases as the deploy file's reader takes them. */
export const caseFilesOf = (texts: CaseTexts): CaseFiles => ({
  read: (path) => (Object.hasOwn(texts, path) ? (texts[path] ?? { why: tooMany }) : { why: tooMany }),
});
