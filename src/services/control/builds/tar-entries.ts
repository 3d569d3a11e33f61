export interface TarBounds {
  entries: number;
  unpackedBytes: number;
  /** The largest ratio of content to archive, once the content is larger than `freeBytes`. */
  ratio: number;
  freeBytes: number;
}

/** Far more than any agent's source has, far less than fills a disk. */
export const usualTarBounds: TarBounds = {
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

/** Header entries about the next entry; they only appear where they are too large. */
const headers = /Header|Long|^Next/;

/**
 * Creates a check for one archive's entries, to be called with each in order: returns the message against it, if any.
 * What it accepts stays inside the folder that the archive is unpacked into:
 * - every path is relative, without `..`, and has only folders above it, never a link
 * - a link may go up only at its start, only as far as the root, and down from there
 * - a hard link names an earlier file
 * - only folders may appear twice, and everything is a folder, a file or a link
 */
export function entryJudge(bounds: TarBounds): (entry: TarEntry) => string | undefined {
  const seen = new Map<string, Kind>();
  let count = 0;

  return ({ path, type, linkpath = '' }) => {
    count += 1;
    if (count > bounds.entries) return `It holds more than ${bounds.entries} entries.`;
    const quoted = shown(path);
    const kind = kinds[type];
    if (!kind) return headers.test(type) ? 'A header in it is too large.' : `${quoted} is ${nameOf(type)}.`;
    const wrong = pathProblem(path);
    if (wrong) return `${quoted} ${wrong}.`;
    const parts = partsOf(path);
    const own = parts.join('/');
    if (own === '') return kind === 'folder' ? undefined : `${quoted} stands in the place of the root.`;

    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join('/');
      const there = seen.get(parent);
      if (there === 'link' || there === 'file') return `${quoted} lies below ${shown(parent)}, which is a ${there}.`;
      seen.set(parent, 'folder');
    }
    const there = seen.get(own);
    if (there !== undefined && !(there === 'folder' && kind === 'folder')) return `${quoted} is in it twice.`;
    if (kind === 'link') {
      const leads = linkProblem(linkpath, parts.length - 1);
      if (leads) return `${quoted} is a link that ${leads}.`;
    }
    if (kind === 'hard link') {
      const isEarlier = !pathProblem(linkpath) && seen.get(partsOf(linkpath).join('/')) === 'file';
      if (!isEarlier) return `${quoted} is a hard link to something else than a file before it.`;
    }
    seen.set(own, kind === 'hard link' ? 'file' : kind);
    return undefined;
  };
}

const shown = (path: string): string => JSON.stringify(path.length > 120 ? `${path.slice(0, 117)}...` : path);

function nameOf(type: string): string {
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
  const down = parts.findIndex((part) => part !== '..');
  const up = down === -1 ? parts.length : down;
  if (up > depth) return 'leads out of the archive';
  // After a name, `..` would go up from wherever a link of that name leads to.
  return parts.slice(up).includes('..') ? 'goes up again behind a name' : undefined;
}

/** The names in a path of an archive, from its root down. */
export const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');
