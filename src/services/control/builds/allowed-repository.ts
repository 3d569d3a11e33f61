import { lstatSync, readdirSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { trimEndOf } from '../../../kit/plain-text.ts';
import { isWithin } from './build-folder.ts';

const maxNoteLength = 65_536;

/** The entries of a repository's folder that git opens besides its objects. */
const inRepository = ['HEAD', 'packed-refs', 'refs', 'config', 'commondir', 'objects', 'objects/info', 'objects/pack'];
/** The entries of an alternate object folder that git opens. */
const parts = [...inRepository, 'info', 'pack'];

/**
 * Checks that all that git would read for a local repository is below the allowed folders, as real paths: links and
 * alternates can lead to repositories that the service may read and the caller may not.
 */
export function staysAllowed(path: string, allowed: readonly string[]): boolean {
  const isAllowed = (real: string): boolean => allowed.some((folder) => isWithin(folder, real));
  if (!isAllowed(path)) return false;
  const left = ['/.git', '', '.git/.git', '.git'].map((suffix) => `${path}${suffix}`).filter(isRepository);
  const seen = new Set<string>();
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const real = realPath(place);
    if (real === undefined || seen.has(real)) continue;
    if (!isAllowed(real)) return false;
    seen.add(real);
    left.push(...namedBy(real));
  }
  return true;
}

/** Whether git may use a folder as a repository. A working tree is none, and may hold any links. */
const isRepository = (place: string): boolean =>
  statOf(place)?.isFile() === true || unlessGone(() => lstatSync(join(place, 'HEAD')), undefined) !== undefined;

/** A path that is never allowed: stands for a file that can't be checked. */
const nowhere = '/';

/** The paths that git follows from a file or folder of a repository. */
function namedBy(path: string): string[] {
  if (!statOf(path)?.isDirectory()) {
    const note = noteIn(path);
    if (!note?.startsWith('gitdir: ')) return [];
    return [resolve(path, '..', withoutEnd(note.slice('gitdir: '.length)))];
  }
  const common = noteIn(join(path, 'commondir'));
  const alternates = noteIn(join(path, 'info/alternates'))?.split('\n') ?? [];
  return [
    ...parts.map((part) => join(path, part)),
    ...(common === undefined ? [] : [resolve(path, withoutEnd(common))]),
    // git unescapes a quoted line.
    ...alternates.filter(Boolean).map((line) => (line.startsWith('"') ? nowhere : resolve(path, line))),
    ...entriesIn(path),
  ];
}

const withoutEnd = (text: string): string => trimEndOf(text, '\r\n');
/** The links in a folder, and its folders of loose objects. */
const entriesIn = (folder: string): string[] =>
  unlessGone(() => readdirSync(folder, { withFileTypes: true }), [])
    .filter((entry) => entry.isSymbolicLink() || (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)))
    .map(({ name }) => join(folder, name));

/** The text of a regular file; undefined where there is none. A very long file counts as a forbidden path. */
function noteIn(path: string): string | undefined {
  const found = statOf(path);
  if (!found?.isFile()) return undefined;
  return found.size > maxNoteLength ? nowhere : unlessGone(() => readFileSync(path, 'utf8'), undefined);
}

const statOf = (path: string): Stats | undefined => unlessGone(() => statSync(path), undefined);

/** The real path of a file or folder; undefined where there is none, or it can't be reached. */
export const realPath = (path: string): string | undefined => unlessGone(() => realpathSync(path), undefined);

const unlessGone = <T, O>(look: () => T, otherwise: O): T | O =>
  unlessCode([...missingCodes, 'EACCES', 'ELOOP'], otherwise, look);
