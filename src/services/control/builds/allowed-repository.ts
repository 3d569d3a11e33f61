import { lstatSync, readdirSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { trimEndOf } from '../../../kit/plain-text.ts';
import { isWithin } from './build-folder.ts';

const maxFileLength = 65_536;

/** The entries of a repository's folder that git opens. */
const repositoryEntries = [
  'HEAD',
  'packed-refs',
  'refs',
  'config',
  'commondir',
  'objects',
  'objects/info',
  'objects/pack',
];
/** The same, with the entries of an alternate object folder. */
const openedEntries = [...repositoryEntries, 'info', 'pack'];

/**
 * Checks that all files that git would read for a local repository are below the allowed folders, by their real paths:
 * links and alternates can lead to repositories that the service may read and the caller may not.
 */
export function staysAllowed(path: string, allowed: readonly string[]): boolean {
  const isAllowed = (real: string): boolean => allowed.some((folder) => isWithin(folder, real));
  if (!isAllowed(path)) return false;
  const pending = ['/.git', '', '.git/.git', '.git'].map((suffix) => `${path}${suffix}`).filter(isRepository);
  const seen = new Set<string>();
  for (let candidate = pending.pop(); candidate !== undefined; candidate = pending.pop()) {
    const real = realPath(candidate);
    if (real === undefined || seen.has(real)) continue;
    if (!isAllowed(real)) return false;
    seen.add(real);
    pending.push(...referencedPaths(real));
  }
  return true;
}

/** Whether git may use a folder as a repository. A working tree is not one, and may contain any links. */
const isRepository = (path: string): boolean =>
  statOf(path)?.isFile() === true || unlessGone(() => lstatSync(join(path, 'HEAD')), undefined) !== undefined;

/** A path that is never allowed; it stands for a file that can't be checked. */
const forbiddenPath = '/';

/** The paths that git follows from a file or folder of a repository. */
function referencedPaths(path: string): string[] {
  if (!statOf(path)?.isDirectory()) {
    const text = readShortFile(path);
    if (!text?.startsWith('gitdir: ')) return [];
    return [resolve(path, '..', withoutLineEnd(text.slice('gitdir: '.length)))];
  }
  const common = readShortFile(join(path, 'commondir'));
  const alternates = readShortFile(join(path, 'info/alternates'))?.split('\n') ?? [];
  return [
    ...openedEntries.map((part) => join(path, part)),
    ...(common === undefined ? [] : [resolve(path, withoutLineEnd(common))]),
    // git unescapes a quoted line.
    ...alternates.filter(Boolean).map((line) => (line.startsWith('"') ? forbiddenPath : resolve(path, line))),
    ...linksAndObjectFolders(path),
  ];
}

const withoutLineEnd = (text: string): string => trimEndOf(text, '\r\n');
/** The links in a folder, and its folders of loose objects. */
const linksAndObjectFolders = (folder: string): string[] =>
  unlessGone(() => readdirSync(folder, { withFileTypes: true }), [])
    .filter((entry) => entry.isSymbolicLink() || (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)))
    .map(({ name }) => join(folder, name));

/** The text of a regular file, or the forbidden path where it is very long; undefined where there is none. */
function readShortFile(path: string): string | undefined {
  const stat = statOf(path);
  if (!stat?.isFile()) return undefined;
  return stat.size > maxFileLength ? forbiddenPath : unlessGone(() => readFileSync(path, 'utf8'), undefined);
}

const statOf = (path: string): Stats | undefined => unlessGone(() => statSync(path), undefined);

/** The real path of a file or folder; undefined where there is none, or it can't be reached. */
export const realPath = (path: string): string | undefined => unlessGone(() => realpathSync(path), undefined);

const unlessGone = <T, O>(read: () => T, fallback: O): T | O =>
  unlessCode([...missingCodes, 'EACCES', 'ELOOP'], fallback, read);
