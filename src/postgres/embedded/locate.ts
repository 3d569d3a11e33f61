import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { clusterOf, existingHome, placeData } from './placement.ts';
import type { Placement } from './placement.ts';
import { readPasswd } from './programs.ts';
import type { ServerUser } from './reach.ts';
import { chooseServerUser } from './server-user.ts';

/**
 * Finds out who runs the server of a data folder and where its data lies, and makes that place.
 *
 * @throws Error when the data can't be reached or is gone, see `placeData`.
 */
export function locate(dataDir: string, systemFolder: string): { user: ServerUser | undefined; placement: Placement } {
  const before = existingHome(resolve(dataDir));
  const owner = before === undefined ? undefined : statSync(clusterOf(before));
  const user = chooseServerUser(process.getuid?.(), owner, readPasswd());
  return { user, placement: placeData(dataDir, user, systemFolder) };
}
