import { existsSync, rmSync } from 'node:fs';
import { type Clock, systemClock } from '../clock.ts';
import { lockFolder } from './embedded/folder-lock.ts';
import { stopLeftover } from './embedded/leftover.ts';
import { locate, socketFolderOf } from './embedded/locate.ts';
import { clusterOf } from './embedded/placement.ts';
import { defaultSystemFolder } from './embedded/system-folder.ts';

/** Which data is removed. */
export interface RemoveEmbeddedOptions {
  /** The folder as it was given to `startEmbeddedPostgres`. */
  dataDir: string;
  log: (message: string) => void;
  clock?: Clock;
  /** As it was given to `startEmbeddedPostgres`. */
  systemFolder?: string;
}

/**
 * Removes a data folder with everything in it, also what lies in root's folder instead, and ends a server that a
 * killed process left on it. A folder that does not exist is no error.
 *
 * @throws FolderBusyError when a process uses the folder.
 */
export async function removeEmbeddedData(options: RemoveEmbeddedOptions): Promise<void> {
  const { dataDir, log, clock = systemClock, systemFolder = defaultSystemFolder } = options;
  if (!existsSync(dataDir)) return;
  const { requested, home } = locate(dataDir, systemFolder).placement;
  const lock = await lockFolder(home, requested, clock, log);
  try {
    await stopLeftover(clusterOf(home), clock, log);
    // The folder of the socket is removed by a stop, which a killed process did not come to.
    for (const folder of new Set([home, requested, socketFolderOf(home, systemFolder)]))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } finally {
    lock.release();
  }
}
