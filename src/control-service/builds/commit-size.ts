import type { CommandEnd, CommandSpec } from './run-command.ts';
import type { TarBounds } from './tar-entries.ts';

/**
 * Counts the entries of a commit, folders too, and their bytes as git lists them, and stops at the first one too many:
 * a few trees that name one another many times make millions of files. Ends with 3 where git fails.
 */
const count = `{ git ls-tree -r -t -l "$1" || echo failed; } |
awk -v entries="$2" -v bytes="$3" '
  $0 == "failed" { exit 3 }
  { size += $4 }
  NR > entries { print "entries"; exit 0 }
  size > bytes { print "bytes"; exit 0 }
  length($0) > 20000 { print "path"; exit 0 }'`;

/** How large a commit is: `within` the bounds, or not, or how the command ended that was to count it. */
export type CommitSize =
  { kind: 'within' } | { kind: 'exceeds'; reason: string } | Exclude<CommandEnd, { kind: 'done' }>;

/**
 * Decides whether a commit may be checked out, before anything of it is written: it holds as much at most as a tarball may.
 *
 * @param run runs a command with the repository that holds the commit.
 */
export async function commitSize(
  commit: string,
  { entries, unpackedBytes }: Pick<TarBounds, 'entries' | 'unpackedBytes'>,
  run: (spec: Pick<CommandSpec, 'command' | 'args'>) => Promise<CommandEnd>,
): Promise<CommitSize> {
  const args = ['-c', count, 'sh', commit, String(entries), String(unpackedBytes)];
  const end = await run({ command: '/bin/sh', args });
  if (end.kind !== 'done') return end;
  const [exceeded] = end.output;
  if (exceeded === undefined) return { kind: 'within' };
  const holds = {
    entries: `more than ${entries} files and folders`,
    bytes: `more than ${unpackedBytes} bytes`,
    path: 'a path that is too long',
  }[exceeded];
  return {
    kind: 'exceeds',
    reason: `Commit ${commit} holds ${holds ?? exceeded}, so it is not checked out. Remove from the repository what the agent does not need, then deploy again.`,
  };
}
