import type { ServerUser } from './reach.ts';

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
