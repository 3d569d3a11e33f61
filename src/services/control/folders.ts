import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hasCode, messageOf } from '../../kit/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { lockFolder, type FolderLock } from '../../kit/postgres/embedded/folder-lock.ts';
import type { Logger } from '../../kit/logger.ts';

/**
 * Creates and locks the data folder: another service would remove builds there that its database does not name. @throws
 * FolderBusyError when another service has it, Error with advice when it can't be used.
 */
export async function takeDataFolder(dataDir: string, clock: Clock, log: Logger): Promise<FolderLock> {
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

/** Closes the folder to other users, where it is this user's: a volume may belong to another user and still be writable. */
function closeFolder(dataDir: string, log: Logger): void {
  try {
    chmodSync(dataDir, 0o700);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EROFS')) throw error;
    log.warn(
      `The data folder ${dataDir} belongs to another user, so its permissions stay as they are. Close it to others.`,
    );
  }
}

/** The folders below which `repo_url` may name a repository, as written and as real paths. @throws Error */
export function allowedFolders(named: readonly string[]): string[] {
  return named.flatMap((folder) => {
    const path = resolve(folder);
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Error(`--allow-git names ${path}, which is no folder. Make it, or name another one.`);
    }
    return [path, realpathSync(path)];
  });
}

/** The names in a folder; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
