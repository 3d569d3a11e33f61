import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { clusterOf, existingHome, placeData, type Placement } from './placement.ts';
import { readPasswd } from './programs.ts';
import type { ServerUser } from './reach.ts';

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

/**
 * Who the server runs as. Postgres refuses to run as root, so root hands it to the owner of the data when there is
 * data already, else to `nobody`.
 *
 * @param self our own user id; `undefined` on a platform without them.
 * @param owner the owner of the existing data.
 * @param passwd the text of `/etc/passwd`.
 * @returns `undefined` when the server runs as we do.
 */
export function chooseServerUser(
  self: number | undefined,
  owner: { uid: number; gid: number } | undefined,
  passwd: string,
): ServerUser | undefined {
  if (self !== 0) return undefined;
  const users = passwd.split('\n').flatMap(readUser);
  if (owner !== undefined && owner.uid !== 0) {
    const name = users.find(({ uid }) => uid === owner.uid)?.name ?? String(owner.uid);
    return { name, uid: owner.uid, gid: owner.gid };
  }
  return users.find(({ name }) => name === 'nobody') ?? { name: 'nobody', uid: 65534, gid: 65534 };
}

function readUser(line: string): ServerUser[] {
  const [name, , uid, gid] = line.split(':');
  if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
  return [{ name, uid: Number(uid), gid: Number(gid) }];
}
