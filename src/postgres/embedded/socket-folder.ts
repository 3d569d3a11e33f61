import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { folderKey } from './placement.ts';
import type { ServerUser } from './reach.ts';
import { ensureRootFolder } from './system-folder.ts';

/** Where the folder of a server's socket lies, by the folder of its data. */
export const socketFolderOf = (home: string, systemFolder: string): string =>
  join(systemFolder, `socket-${folderKey(home)}`);

/**
 * Makes the folder of a server's socket, which only its user and root's group may enter. It lies in root's
 * folder because the path of a socket is at most 107 bytes long.
 *
 * @param home the folder of the server's data.
 */
export function makeSocketFolder(home: string, user: ServerUser, systemFolder: string): string {
  const folder = socketFolderOf(home, ensureRootFolder(systemFolder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, user.uid, 0);
  // Sockets made in there get the folder's group.
  chmodSync(folder, 0o2770);
  return folder;
}
