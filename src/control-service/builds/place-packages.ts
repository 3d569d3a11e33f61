import { mkdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { changeOwner } from '../isolation/change-owner.ts';
import { wayTo } from './checkout-files.ts';
import type { CommandEnd, RunCommand } from './run-command.ts';

/** The target of an entry's package folders. */
export interface Placement {
  /** The target folder in the checkout; a real path. */
  into: string;
  /** An unused absolute path, in a folder of the service's on the file system of `into`. */
  aside: string;
  /** The build's user, where it is not this service's own. */
  user: ProcessUser | undefined;
  /** Changes the checkout's owner to the build's user. */
  giveSource: () => Promise<void>;
  run: RunCommand;
}

/** The longest list of folders that is passed to a command, in bytes. */
const longestList = 100_000;

/**
 * Returns the reason why an entry's folders can't be put into a checkout; undefined where they can. An install script
 * chooses their names and the repository controls the checkout, so a link above one of them could lead outside.
 */
export function placementProblem(folders: readonly string[], into: string): string | undefined {
  if (Buffer.byteLength(folders.join('\0')) > longestList) return 'it makes very many folders of packages';
  const blocked = folders
    .map((folder) => dirname(folder))
    .find((above) => above !== '.' && wayTo(into, above) === 'blocked');
  return blocked === undefined ? undefined : `${blocked} is, or lies below, a link or a file of the repository`;
}

/**
 * Copies an entry's package folders into a checkout, replaces those that exist, and records the use. The service copies
 * into a folder of its own and changes the owner; the build's user moves the copy into the checkout, so that a link there
 * leads no further than that user can reach. Files share blocks where the file system can (reflink), and are never hard
 * links: a writer to one copy would change the other.
 */
export async function placePackages(
  entry: string,
  folders: readonly string[],
  { into, aside, user, giveSource, run }: Placement,
): Promise<CommandEnd> {
  const now = new Date();
  await utimes(join(entry, 'entry.json'), now, now);
  await mkdir(aside, { mode: 0o700 });
  const copy = join(aside, 'copy');
  const copied = await run({ command: 'cp', args: ['-RPp', '--', entry, copy], cwd: aside, asService: true });
  if (copied.kind !== 'done') return copied;
  if (user) await changeOwner(aside, user);
  await giveSource();
  return run({ command: '/bin/sh', args: ['-c', moveFolders, 'sh', copy, ...folders], cwd: into });
}

/** Moves folders from `$1` into the working directory. */
const moveFolders = `from=$1; shift
for folder; do
  rm -rf -- "./$folder" && mkdir -p -- "./$(dirname -- "$folder")" && mv -- "$from/$folder" "./$folder" || exit 1
done`;
