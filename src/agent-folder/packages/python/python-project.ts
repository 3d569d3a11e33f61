import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { kindOfPath, readBelow } from '../checkout-files.ts';
import { largestManifest } from '../project-folders.ts';

const largestLock = 32_000_000;

/** The source of an agent in Python, as far as its installation depends on it. Paths are relative to its root. */
export interface PythonSource {
  /** The folder of the graph configuration; empty for the root. */
  folder: string;
  /** The names in a folder; undefined where there is none, or only a link. */
  namesIn(path: string): ReadonlySet<string> | undefined;
  /** The text of a file; undefined where there is none, or only a link. */
  textOf(path: string): string | undefined;
}

/** The source below the real path `root`. */
export const pythonSource = (root: string, folder: string): PythonSource => ({
  folder,
  namesIn(path) {
    if (path !== '' && kindOfPath(root, path) !== 'folders') return undefined;
    const names = unlessCode([...missingCodes, 'EACCES'], undefined, () => readdirSync(join(root, path)));
    return names && new Set(names);
  },
  textOf: (path) => readBelow(root, path, path.endsWith('.lock') ? largestLock : largestManifest)?.toString(),
});
