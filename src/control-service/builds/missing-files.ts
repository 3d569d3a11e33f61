import type { WriteLine } from '../compute/log-line.ts';
import type { CommandEnd, CommandSpec } from './run-command.ts';

/** How many paths are named. */
const named = 3;

/**
 * Reads git's list of a commit's entries in its checkout, and prints how many are submodules and how many are Git LFS
 * pointers (of less than 1,024 bytes, by their specification), with the first paths of each. Exits with 3 where git
 * fails. Paths are others' text: a control character would begin a line of its own.
 */
const finder = `
const { closeSync, constants, openSync, readSync } = require('node:fs');
const start = Buffer.from('version https://git-lfs.github.com/spec/v1\\n');
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
const find = '{ git ls-tree -r -l -z "$1" || echo failed; } | "$2" -e "$3" "$4"';

/** Warns of what git leaves out of a checkout: submodules, and files in Git LFS. An agent may start without them. */
export async function warnOfMissingFiles(
  commit: string,
  run: (spec: Pick<CommandSpec, 'command' | 'args'>) => Promise<CommandEnd>,
  log: WriteLine,
): Promise<void> {
  const end = await run({ command: '/bin/sh', args: ['-c', find, 'sh', commit, process.execPath, finder, `${named}`] });
  if (end.kind === 'interrupted') return;
  if (end.kind === 'failed') {
    log('warning', `Whether submodules or files in Git LFS are missing is not known: ${end.said ?? end.how}.`);
    return;
  }
  // The output may include warnings of git and Node.js.
  const after = (start: string): string[] =>
    end.output.flatMap((line) => (line.startsWith(start) ? [line.slice(start.length)] : []));
  const foundOf = (kind: string): Found => ({
    count: Number(after(`landfall-${kind}s `)[0]),
    paths: after(`landfall-${kind} `),
  });
  for (const warning of missingFilesWarnings(foundOf('submodule'), foundOf('pointer'))) log('warning', warning);
}

interface Found {
  count: number;
  /** The first of them. */
  paths: readonly string[];
}

function missingFilesWarnings(submodules: Found, pointers: Found): string[] {
  const warnings: string[] = [];
  if (submodules.count > 0) {
    const empty =
      submodules.count === 1 ? '1 folder of this build is' : `${submodules.count} folders of this build are`;
    warnings.push(
      `Submodules are not fetched, so ${empty} empty: ${listed(submodules)}. Commit their files to the repository itself, or deploy a folder that holds them (source: internal_source).`,
    );
  }
  if (pointers.count > 0) {
    const isOne = pointers.count === 1;
    const only = isOne
      ? '1 file of this build is only a pointer'
      : `${pointers.count} files of this build are only pointers`;
    const it = isOne ? 'it' : 'them';
    warnings.push(
      `Files in Git LFS are not fetched, so ${only}: ${listed(pointers)}. Commit ${it} without Git LFS, or deploy a folder that holds ${it} (source: internal_source).`,
    );
  }
  return warnings;
}

function listed({ count, paths }: Found): string {
  const more = count > paths.length ? ` and ${count - paths.length} more` : '';
  return `${paths.map((path) => `"${path}"`).join(', ')}${more}`;
}
