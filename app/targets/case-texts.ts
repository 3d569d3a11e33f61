import { posix } from 'node:path';
import type { CaseFiles } from '../../src/deploy/file/cases.ts';
import { FileTooLarge } from '../github/github-api.ts';

/** The files of cases that a deploy file names, by their paths. Plain data: it goes to a worker thread. */
export type CaseTexts = Readonly<Record<string, ReturnType<CaseFiles['read']>>>;

/** The most files of cases read for one deploy file: each costs a request to GitHub. */
export const maxCaseFiles = 20;

/** The most characters of all files of cases of one deploy file: they are read together, in one process. */
const maxCaseLength = 4_000_000;

/** Reads files of cases from a repository, each as the deploy file was read. */
export async function readCaseTexts(
  paths: readonly string[],
  readFile: (path: string) => Promise<string | undefined>,
): Promise<CaseTexts> {
  const texts = new Map<string, CaseTexts[string]>();
  let left = maxCaseLength;
  for (const path of paths) {
    if (left <= 0) {
      texts.set(path, { why: tooLong });
      continue;
    }
    try {
      const text = await readFile(posix.normalize(path));
      left -= text?.length ?? 0;
      if (text === undefined) texts.set(path, { why: 'names a file that is not there' });
      else texts.set(path, left < 0 ? { why: tooLong } : { text });
    } catch (error) {
      if (!(error instanceof FileTooLarge)) throw error;
      texts.set(path, { why: `names a file that is not read: ${error.why}` });
    }
  }
  return Object.fromEntries(texts);
}

const tooLong = `names a file that is not read: all files of cases together have more than ${maxCaseLength} characters. Leave out some rows`;
const tooMany = `is one of more than ${maxCaseFiles} files of cases. Put the cases of several into one file`;

/** The files of cases as the deploy file's reader takes them. */
export const caseFilesOf = (texts: CaseTexts): CaseFiles => ({
  read: (path) => (Object.hasOwn(texts, path) ? (texts[path] ?? { why: tooMany }) : { why: tooMany }),
});
