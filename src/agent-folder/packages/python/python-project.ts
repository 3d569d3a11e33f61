import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { kindOfPath, readBelow } from '../checkout-files.ts';
import { maxManifestSize } from '../project-folders.ts';

const maxLockSize = 32_000_000;

/** The files of an agent in Python that its installation depends on. Paths are relative to the root of its source. */
export interface PythonSource {
  /** The folder of the graph configuration; empty for the root. */
  folder: string;
  /** The names of a folder's entries; undefined if the path is not a folder. Links are not followed. */
  entriesIn(path: string): ReadonlySet<string> | undefined;
  /** The text of a file; undefined if the path is not a file. Links are not followed. */
  textOf(path: string): string | undefined;
}

/** The source below the real path `root`. */
export const pythonSource = (root: string, folder: string): PythonSource => ({
  folder,
  entriesIn(path) {
    if (path !== '' && kindOfPath(root, path) !== 'folders') return undefined;
    const names = unlessCode([...missingCodes, 'EACCES'], undefined, () => readdirSync(join(root, path)));
    return names && new Set(names);
  },
  textOf: (path) => readBelow(root, path, path.endsWith('.lock') ? maxLockSize : maxManifestSize)?.toString(),
});

/** The lines of a requirements file, without comments and with continued lines joined. */
const linesOf = (text: string): string[] =>
  text
    .replace(/\\\r?\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');

/** Whether every entry of a requirements file is a package with an exact version. */
export function isPinned(text: string): boolean {
  const packages = linesOf(text).filter((line) => !line.startsWith('--'));
  return (
    packages.length > 0 && packages.every((line) => /^[\w.-]+(?:\[[^\]]*\])?\s*===?\s*[^\s*,]+(?:\s|;|$)/.test(line))
  );
}

/** The files that a requirements file includes, and whether it installs anything else from the source itself. */
export function referencesOf(text: string): { files: string[]; isLocal: boolean } {
  const files: string[] = [];
  let isLocal = false;
  for (const line of linesOf(text)) {
    const [, file] = /^(?:-r|-c|--requirement|--constraint)[\s=]*(\S+)/.exec(line) ?? [];
    if (file !== undefined) files.push(file);
    else if (/^(?:(?:-e|--editable|-f|--find-links)[\s=]|\.|\/)|file:|@\s*\.{0,2}\//.test(line)) isLocal = true;
  }
  return { files, isLocal };
}
