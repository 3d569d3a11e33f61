import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { kindOfPath, readBelow } from '../../../agent-folder/packages/checkout-files.ts';
import type { RunningBuild } from './running-build.ts';
import type { CommandEnd, CommandSpec } from './run-command.ts';

const maxListedPaths = 3;

/** How a pointer begins; it has less than 1,024 bytes, by the specification of Git LFS. */
const pointerStart = 'version https://git-lfs.github.com/spec/v1\n';
/** Whether a file of that size (bytes) may be a pointer. */
export const mayBePointer = (size: number): boolean => size > pointerStart.length && size < 1024;

/**
 * A script that reads git's list of a commit's entries in its checkout, and prints how many are submodules and how many
 * are Git LFS pointers, with the first paths of each. Exits with 3 where git fails. Paths are untrusted: the script
 * replaces control characters, which could begin a new line.
 */
const finderScript = `
const { closeSync, constants, openSync, readSync } = require('node:fs');
const start = Buffer.from(${JSON.stringify(pointerStart)});
const isPointer = (path) => {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(start.length);
    return readSync(file, bytes, 0, bytes.length, 0) === bytes.length && bytes.equals(start);
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};
const found = { submodule: 0, pointer: 0 };
const add = (kind, path) => {
  found[kind] += 1;
  const shown = path.toString().replace(/[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]/gu, '?').slice(0, 100).toWellFormed();
  if (found[kind] <= Number(process.argv[1])) console.log('landfall-' + kind + ' ' + shown);
};
const look = (entry) => {
  const tab = entry.indexOf(9);
  if (tab === -1) process.exit(3);
  const [mode, , , size] = entry.subarray(0, tab).toString().split(/ +/);
  const path = entry.subarray(tab + 1);
  if (mode === '160000') add('submodule', path);
  else if (mode.startsWith('100') && size > start.length && size < 1024 && isPointer(path)) add('pointer', path);
};
let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
    look(rest.subarray(0, end));
    rest = rest.subarray(end + 1);
  }
}).on('end', () => {
  if (rest.length > 0) process.exit(3);
  for (const kind in found) console.log('landfall-' + kind + 's ' + found[kind]);
});`;
const findCommand = '{ git ls-tree -r -l -z "$1" || echo failed; } | "$2" -e "$3" "$4"';

/** Warns of files that a checkout lacks: submodules, and files in Git LFS. An agent may start without them. */
export async function warnOfMissingFiles(
  commit: string,
  run: (spec: Pick<CommandSpec, 'command' | 'args'>) => Promise<CommandEnd>,
  warn: RunningBuild['warn'],
): Promise<void> {
  const end = await run({
    command: '/bin/sh',
    args: ['-c', findCommand, 'sh', commit, process.execPath, finderScript, `${maxListedPaths}`],
  });
  if (end.kind === 'interrupted') return;
  if (end.kind === 'failed') {
    warn(`Whether submodules or files in Git LFS are missing is not known: ${end.cause ?? end.reason}.`);
    return;
  }
  // The output may include warnings of git and Node.js.
  const linesAfter = (start: string): string[] =>
    end.output.flatMap((line) => (line.startsWith(start) ? [line.slice(start.length)] : []));
  const missingOf = (kind: string): MissingFiles => ({
    count: Number(linesAfter(`landfall-${kind}s `)[0]),
    paths: linesAfter(`landfall-${kind} `),
  });
  warnOfMissing({ submodules: missingOf('submodule'), pointers: missingOf('pointer') }, 'commit', warn);
}

/** Warns of files that an upload lacks, before any of it runs. @param small the files with the size of a pointer */
export function warnOfFilesNotUploaded(folder: string, small: readonly string[], warn: RunningBuild['warn']): void {
  const isPointer = (path: string): boolean =>
    readBelow(folder, path, pointerStart.length)?.toString() === pointerStart;
  const pointers = small.filter(isPointer);
  const submodules = submodulePaths(folder).filter((path) => isMissing(folder, path));
  warnOfMissing({ submodules: toMissingFiles(submodules), pointers: toMissingFiles(pointers) }, 'upload', warn);
}

const toMissingFiles = (paths: readonly string[]): MissingFiles => ({
  count: paths.length,
  paths: paths.slice(0, maxListedPaths).map((path) =>
    path
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
      .slice(0, 100)
      .toWellFormed(),
  ),
});

/** The most bytes of `.gitmodules` that are read. */
const gitmodulesBytes = 64 * 1024;

/** The paths that `.gitmodules` names; untrusted text. */
function submodulePaths(folder: string): string[] {
  const text = readBelow(folder, '.gitmodules', gitmodulesBytes + 1);
  if (text === undefined || text.length > gitmodulesBytes) return [];
  const paths = text
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [key, ...value] = line.split('=');
      return key?.trim() === 'path' ? [value.join('=').trim()] : [];
    });
  // A path that leads out of the folder is not a submodule, and no file has a null byte in its name.
  const isInside = (path: string): boolean => path !== '' && !path.includes('\0') && !path.split('/').includes('..');
  return [...new Set(paths)].filter(isInside);
}

function isMissing(folder: string, path: string): boolean {
  const kind = kindOfPath(folder, path);
  return kind === 'not there' || (kind === 'folders' && readdirSync(join(folder, path)).length === 0);
}

interface MissingFiles {
  count: number;
  /** The first of them. */
  paths: readonly string[];
}

/** What to do about missing files, by the build's source. */
const advice = {
  submodules: {
    commit: 'Commit their files to the repository itself, or deploy a folder that holds them (source: internal_source)',
    upload: 'Fetch them before you deploy (git submodule update --init; actions/checkout with submodules: true)',
  },
  pointers: {
    commit: 'Commit the content itself, or deploy a folder that holds it (source: internal_source)',
    upload: 'Fetch them before you deploy (git lfs pull; actions/checkout with lfs: true)',
  },
};

function warnOfMissing(
  { submodules, pointers }: { submodules: MissingFiles; pointers: MissingFiles },
  from: 'commit' | 'upload',
  warn: RunningBuild['warn'],
): void {
  if (submodules.count > 0) {
    const empty =
      submodules.count === 1 ? '1 folder of this build is' : `${submodules.count} folders of this build are`;
    warn(`Submodules are not fetched, so ${empty} empty: ${listPaths(submodules)}. ${advice.submodules[from]}.`);
  }
  if (pointers.count > 0) {
    const only =
      pointers.count === 1
        ? '1 file of this build is only a pointer'
        : `${pointers.count} files of this build are only pointers`;
    warn(`Files in Git LFS are not fetched, so ${only}: ${listPaths(pointers)}. ${advice.pointers[from]}.`);
  }
}

function listPaths({ count, paths }: MissingFiles): string {
  const more = count > paths.length ? ` and ${count - paths.length} more` : '';
  return `${paths.map((path) => `"${path}"`).join(', ')}${more}`;
}
