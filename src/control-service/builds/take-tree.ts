import { posix } from 'node:path';
import { ReadEntry, Unpack } from 'tar';
import { hasCode, messageOf } from '../../errors.ts';
import type { GuardedProcess } from '../compute/guarded-process.ts';
import { isWithin } from './build-folder.ts';
import { cannot, made, type Part } from './build.ts';
import { plainMode } from './seal-tree.ts';
import { chunksOf, drained } from './tar-bytes.ts';

/** A process that writes a tar to its standard output. */
export type TarProcess = Pick<GuardedProcess, 'stdout' | 'stderr' | 'ended' | 'kill'>;

/** The most entries: far more than any agent's packages have. */
const mostEntries = 1_000_000;

/**
 * Extracts the tar of the folder `from` that a process writes into an empty folder of this service's. Takes only package
 * folders and their parents, as files, folders and links; skips links that lead out of `from` and everything else.
 * Refuses a tar that would write anywhere else. Nothing in it is trusted: other processes of the same user could make the
 * process write anything.
 */
export async function takeTree(
  { stdout, stderr, ended, kill }: TarProcess,
  { from, into }: { from: string; into: string },
): Promise<Part<'taken'>> {
  let wrong: string | undefined;
  const refuse = (why: string): false => {
    wrong ??= why;
    kill();
    return false;
  };
  const files = new Set<string>();
  let entries = 0;
  const unpack = new Unpack({
    cwd: into,
    keep: true,
    noMtime: true,
    preserveOwner: false,
    filter(path, entry) {
      entries += 1;
      if (wrong !== undefined || !(entry instanceof ReadEntry)) return false;
      if (entries > mostEntries) return refuse(`they are more than ${mostEntries} files`);
      if (!isTaken(path, entry, from)) return false;
      if (entry.type === 'Link' && !files.has(posix.normalize(entry.linkpath ?? ''))) {
        return refuse('a hard link among them is to something else than a file before it');
      }
      if (entry.type === 'File' || entry.type === 'OldFile') files.add(posix.normalize(path));
      return true;
    },
    onwarn(code, message) {
      if (code !== 'TAR_ENTRY_INFO') refuse(message);
    },
  });
  const closed = Promise.withResolvers<void>();
  const fail = (error: unknown): void => {
    refuse(messageOf(error));
    closed.resolve();
  };
  unpack.on('close', () => closed.resolve());
  unpack.on('error', fail);
  stderr.resume();
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of chunksOf(stdout))
        if (!unpack.write(chunk)) await Promise.race([drained(unpack), closed.promise]);
    } catch (error) {
      // A truncated stream counts as an error, also where it was cut between two files.
      refuse(hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE') ? 'their list was cut off' : messageOf(error));
    }
    unpack.end();
  };
  // The library throws for some invalid archives: in a stream's listener that would end this service.
  feed().catch(fail);
  const end = await ended;
  await closed.promise;
  if (wrong !== undefined) return cannot(`The installed packages could not be read: ${wrong}.`);
  return end.kind === 'exited' && end.code === 0 ? made('taken') : cannot('The installed packages could not be read.');
}

/** Checks an entry, and converts it for writing. */
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
