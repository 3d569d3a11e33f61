import { ReadEntry, Unpack } from 'tar';
import type { LeashedProcess } from '../compute/leashed-process.ts';
import { cannot, made, type Part } from './build.ts';
import { plainMode } from './copy-tree.ts';

/** A process that writes a tar to its standard output. */
export type TarProcess = Pick<LeashedProcess, 'stdout' | 'stderr' | 'ended' | 'kill'>;

/**
 * Writes what a process tells as a tar into an empty folder of this service's. Only folders of packages are taken, with
 * the folders they lie in, as files, folders and links; a tar that would write anywhere else is refused.
 */
export async function takeTree({ stdout, stderr, ended, kill }: TarProcess, into: string): Promise<Part<'taken'>> {
  let wrong: string | undefined;
  const unpack = new Unpack({
    cwd: into,
    strict: true,
    keep: true,
    noMtime: true,
    preserveOwner: false,
    filter(path, entry) {
      if (!(entry instanceof ReadEntry)) return true;
      const isKept = path.split('/').includes('node_modules');
      entry.mode = entry.type === 'Directory' ? 0o755 : plainMode(entry.mode ?? 0);
      return isKept && ['File', 'OldFile', 'Directory', 'SymbolicLink', 'Link'].includes(entry.type);
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
