export interface TarBounds {
  entries: number;
  unpackedBytes: number;
  /** The largest ratio of content to archive, once the content is larger than `freeBytes`. */
  ratio: number;
  freeBytes: number;
}

/** Far more than any agent's source has, far less than fills a disk. */
export const defaultTarBounds: TarBounds = {
  entries: 100_000,
  unpackedBytes: 2 * 1024 ** 3,
  ratio: 200,
  freeBytes: 32 * 1024 ** 2,
};

/** The longest path and the longest name in it, in bytes: the limits of file systems, minus the folder above. */
export const maxPathLength = 1_024;
const maxNameLength = 255;

/** One entry of an archive, as far as the check needs it; `type` is the tar library's name of its kind. */
interface TarEntry {
  path: string;
  type: string;
  linkpath?: string | undefined;
}

type Kind = 'folder' | 'file' | 'link';

const kinds: Readonly<Record<string, Kind | 'hard link'>> = {
  File: 'file',
  OldFile: 'file',
  ContiguousFile: 'file',
  Directory: 'folder',
  GNUDumpDir: 'folder',
  SymbolicLink: 'link',
  Link: 'hard link',
};

/** Types of header entries; the parser emits them only where they are too large. */
const headerType = /Header|Long|^Next/;

/**
 * Creates a check that is called with each entry of one archive, in order: it returns the problem of the entry, if any.
 * Accepted entries stay inside the folder that the archive is unpacked into:
 * - every path is relative, without `..`, and has only folders above it, never a link
 * - a link may go up only at its start, only as far as the root, and down from there
 * - a hard link names an earlier file
 * - only folders may appear twice, and everything is a folder, a file or a link
 */
export function createEntryCheck(bounds: TarBounds): (entry: TarEntry) => string | undefined {
  const seen = new Map<string, Kind>();
  let count = 0;

  return ({ path, type, linkpath = '' }) => {
    count += 1;
    if (count > bounds.entries) return `It holds more than ${bounds.entries} entries.`;
    const quoted = quote(path);
    const kind = kinds[type];
    if (!kind) return headerType.test(type) ? 'A header in it is too large.' : `${quoted} is ${kindInWords(type)}.`;
    const problem = pathProblem(path);
    if (problem) return `${quoted} ${problem}.`;
    const parts = partsOf(path);
    const normalizedPath = parts.join('/');
    if (normalizedPath === '') return kind === 'folder' ? undefined : `${quoted} stands in the place of the root.`;

    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join('/');
      const parentKind = seen.get(parent);
      if (parentKind === 'link' || parentKind === 'file')
        return `${quoted} lies below ${quote(parent)}, which is a ${parentKind}.`;
      seen.set(parent, 'folder');
    }
    const earlierKind = seen.get(normalizedPath);
    if (earlierKind !== undefined && !(earlierKind === 'folder' && kind === 'folder'))
      return `${quoted} is in it twice.`;
    if (kind === 'link') {
      const linkFault = linkProblem(linkpath, parts.length - 1);
      if (linkFault) return `${quoted} is a link that ${linkFault}.`;
    }
    if (kind === 'hard link') {
      const isEarlier = !pathProblem(linkpath) && seen.get(partsOf(linkpath).join('/')) === 'file';
      if (!isEarlier) return `${quoted} is a hard link to something else than a file before it.`;
    }
    seen.set(normalizedPath, kind === 'hard link' ? 'file' : kind);
    return undefined;
  };
}

const quote = (path: string): string => JSON.stringify(path.length > 120 ? `${path.slice(0, 117)}...` : path);

function kindInWords(type: string): string {
  if (type === 'FIFO') return 'a named pipe';
  return type.endsWith('Device') ? 'a device' : `of a kind that is not taken (${type})`;
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'has no name';
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return 'holds a backslash or a control character';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is an absolute path';
  if (path.split('/').includes('..')) return 'leads out of the archive';
  if (Buffer.byteLength(path) > maxPathLength) return `is longer than ${maxPathLength} bytes`;
  return path.split('/').some((name) => Buffer.byteLength(name) > maxNameLength)
    ? `has a name longer than ${maxNameLength} bytes`
    : undefined;
}

/** @param depth the number of folders above the link, up to the root. */
function linkProblem(target: string, depth: number): string | undefined {
  if (target === '' || /[\u0000-\u001f\u007f\\]/.test(target)) return 'leads nowhere';
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target)) return 'leads to an absolute path';
  const parts = partsOf(target);
  const firstName = parts.findIndex((part) => part !== '..');
  const up = firstName === -1 ? parts.length : firstName;
  if (up > depth) return 'leads out of the archive';
  // After a name, `..` would go up from the target of a link with that name.
  return parts.slice(up).includes('..') ? 'goes up again behind a name' : undefined;
}

/** The names in a path of an archive, from its root down. */
export const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');
