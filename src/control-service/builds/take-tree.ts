import { posix } from 'node:path';
import { ReadEntry, Unpack } from 'tar';
import type { LeashedProcess } from '../compute/leashed-process.ts';
import { isWithin } from './build-folder.ts';
import { cannot, made, type Part } from './build.ts';
import { plainMode } from './seal-tree.ts';

/** A process that writes a tar to its standard output. */
export type TarProcess = Pick<LeashedProcess, 'stdout' | 'stderr' | 'ended' | 'kill'>;

/**
 * Writes what a process tells as a tar of the folder `from` into an empty folder of this service's. Only folders of
 * packages are taken, with the folders they lie in, as files, folders and links; links that lead out of `from` are left
 * out, and so is what else there may be. A tar that would write anywhere else is refused.
 */
export async function takeTree(
  { stdout, stderr, ended, kill }: TarProcess,
  { from, into }: { from: string; into: string },
): Promise<Part<'taken'>> {
  let wrong: string | undefined;
  const unpack = new Unpack({
    cwd: into,
    keep: true,
    noMtime: true,
    preserveOwner: false,
    filter: (path, entry) => entry instanceof ReadEntry && isTaken(path, entry, from),
    onwarn(code, message) {
      if (code === 'TAR_ENTRY_INFO') return;
      wrong ??= message;
      kill();
    },
  });
  const closed = new Promise<void>((done) => {
    unpack.on('close', () => done());
    unpack.on('error', (error: unknown) => {
      wrong ??= error instanceof Error ? error.message : String(error);
      kill();
      done();
    });
  });
  stderr.resume();
  stdout.pipe(unpack);
  const end = await ended;
  await closed;
  if (wrong !== undefined) return cannot(`The installed packages could not be read: ${wrong}.`);
  return end.kind === 'exited' && end.code === 0 ? made('taken') : cannot('The installed packages could not be read.');
}

/** Decides on an entry, and makes of it what is written. */
function isTaken(path: string, entry: ReadEntry, from: string): boolean {
  if (!path.split('/').includes('node_modules')) return false;
  if (entry.type === 'Directory') entry.mode = 0o755;
  else entry.mode = plainMode(entry.mode ?? 0);
  if (entry.type !== 'SymbolicLink') return ['File', 'OldFile', 'Directory', 'Link'].includes(entry.type);
  const folder = posix.join(from, posix.dirname(path));
  const way = posix.relative(folder, posix.resolve(folder, entry.linkpath ?? ''));
  entry.linkpath = way === '' ? '.' : way;
  return isWithin(from, posix.resolve(folder, way));
}
