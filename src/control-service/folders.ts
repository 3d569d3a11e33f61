import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import { hasCode, messageOf } from '../postgres/embedded/file-errors.ts';
import { lockFolder, type FolderLock } from '../postgres/embedded/folder-lock.ts';

/**
 * Makes the data folder and takes it for this service alone, whichever database it works on: another one would find
 * builds there that its own database does not name, and clear them away.
 *
 * @throws FolderBusyError when another service has it, Error with advice when it can't be used.
 */
export async function takeDataFolder(
  dataDir: string,
  clock: Clock,
  log: (message: string) => void,
): Promise<FolderLock> {
  try {
    // The users of deployments and of the embedded server must be able to traverse it, but not to list it.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    if (process.getuid?.() !== 0) closeFolder(dataDir, log);
    return await lockFolder(dataDir, dataDir, clock, log);
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EEXIST', 'ENOTDIR', 'EROFS')) throw error;
    throw new Error(
      `The data folder ${dataDir} can't be made or written to (${messageOf(error)}). Choose another one with --data, or run as the user it belongs to.`,
      { cause: error },
    );
  }
}

/** Closes the folder to other users, where it is this user's: a volume may belong to another one and be writable all the same. */
function closeFolder(dataDir: string, log: (message: string) => void): void {
  try {
    chmodSync(dataDir, 0o700);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EROFS')) throw error;
    log(`The data folder ${dataDir} belongs to another user, so it stays open to whom it is now. Close it to others.`);
  }
}

/**
 * The folders that `repo_url` may name one below of, each as it was written and as it is without links.
 *
 * @throws Error when one is not there or no folder.
 */
export function allowedFolders(named: readonly string[]): string[] {
  return named.flatMap((folder) => {
    const path = resolve(folder);
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Error(`--allow-git names ${path}, which is no folder. Make it, or name another one.`);
    }
    return [path, realpathSync(path)];
  });
}
