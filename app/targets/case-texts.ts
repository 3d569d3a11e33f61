import { posix } from 'node:path';
import type { CaseFiles } from '../../src/deploy/file/cases.ts';
import { FileTooLarge } from '../github/github-api.ts';

/** The case files of a deploy file by path. Plain data, because it is sent to a worker process. */
export type CaseTexts = Readonly<Record<string, ReturnType<CaseFiles['read']>>>;

/** The maximum number of case files per deploy file, because each costs a request to GitHub. */
export const maxCaseFiles = 20;

/** The maximum length (characters) of all case files of a deploy file together. */
const maxCaseLength = 4_000_000;

/** Reads case files from a repository. @param readFile reads a file at the commit of the deploy file. */
export async function readCaseTexts(
  paths: readonly string[],
  readFile: (path: string) => Promise<string | undefined>,
): Promise<CaseTexts> {
  const texts = new Map<string, CaseTexts[string]>();
  let remaining = maxCaseLength;
  for (const path of paths) {
    if (remaining <= 0) {
      texts.set(path, { why: tooLong });
      continue;
    }
    try {
      const text = await readFile(posix.normalize(path));
      remaining -= text?.length ?? 0;
      if (text === undefined) texts.set(path, { why: 'names a file that is not there' });
      else texts.set(path, remaining < 0 ? { why: tooLong } : { text });
    } catch (error) {
      if (!(error instanceof FileTooLarge)) throw error;
      texts.set(path, { why: `names a file that is not read: ${error.why}` });
    }
  }
  return Object.fromEntries(texts);
}

const tooLong = `names a file that is not read: all files of cases together have more than ${maxCaseLength} characters. Leave out some rows`;
const tooMany = `is one of more than ${maxCaseFiles} files of cases. Put the cases of several into one file`;

/** Adapts the texts to the interface of the deploy file's reader. */
export const caseFilesOf = (texts: CaseTexts): CaseFiles => ({
  read: (path) => (Object.hasOwn(texts, path) ? (texts[path] ?? { why: tooMany }) : { why: tooMany }),
});
