import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { clusterOf, existingHome, folderKey, placeData, type Placement } from './placement.ts';
import { firstClosed, may, type ServerUser, accessOf, wayTo } from './file-access.ts';
import { unlessCode } from '../../errors.ts';
import type { Programs } from './cluster.ts';
import { findInstallation, type Installation, linkLibraries } from './installation.ts';
import { copyInstallation, ensureRootFolder } from './system-folder.ts';
import type { Logger } from '../../logger.ts';

/** Finds out who runs the server of a data folder and where its data lies, and makes that place. Throws as `placeData`. */
export function locate(dataDir: string, systemFolder: string): { user: ServerUser | undefined; placement: Placement } {
  const before = existingHome(resolve(dataDir));
  const owner = before === undefined ? undefined : statSync(clusterOf(before));
  const user = chooseServerUser(process.getuid?.(), owner, readPasswd());
  return { user, placement: placeData(dataDir, user, systemFolder) };
}

/**
 * Who the server runs as. Postgres refuses to run as root, so root hands it to the owner of the data when there is
 * data already, else to `nobody`. `undefined` when the server runs as we do.
 *
 * @param self our own user id; `undefined` on a platform without them.
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

/** The server's programs where `user` can run them: where npm put them if it may go there, else a copy in root's folder. */
export function preparePrograms(
  home: string,
  user: ServerUser | undefined,
  systemFolder: string,
  log: Logger,
): Programs {
  const found = findInstallation();
  const closed = user === undefined ? undefined : closedPart(found, user);
  if (closed === undefined) {
    return { installation: found, libraries: linkLibraries(found, join(home, 'libraries')), user };
  }
  const installation = copyInstallation(found, systemFolder);
  log.info(
    `Postgres runs as ${user?.name}, who may not use ${closed}; its programs are copied to ${installation.root}.`,
  );
  return { installation, libraries: undefined, user };
}

/** The first part of an installation that `user` can't get at. */
function closedPart({ root }: Installation, user: ServerUser): string | undefined {
  const real = realpathSync(root);
  const folders = ['bin', 'lib', 'lib/postgresql', 'share', 'share/postgresql'].map((part) => join(real, part));
  const shut = firstClosed(user, [...wayTo(real), ...folders.map(accessOf)]);
  if (shut !== undefined) return shut.path;
  const programs = ['initdb', 'postgres'].map((name) => join(real, 'bin', name));
  const libraries = readdirSync(join(real, 'lib')).filter((name) => name.includes('.so'));
  const read = [...libraries.map((name) => join(real, 'lib', name)), join(real, 'share/postgresql/postgres.bki')];
  return programs.find((file) => !may(user, 5, accessOf(file))) ?? read.find((file) => !may(user, 4, accessOf(file)));
}

const readPasswd = (): string => unlessCode(['ENOENT', 'EACCES'], '', () => readFileSync('/etc/passwd', 'utf8'));

/** Where the folder of a server's socket lies, by the folder of its data. */
export const socketFolderOf = (home: string, systemFolder: string): string =>
  join(systemFolder, `socket-${folderKey(home)}`);

/** Makes the folder of a server's socket, for its user and root's group. A socket's path has at most 107 bytes. */
export function makeSocketFolder(home: string, user: ServerUser, systemFolder: string): string {
  const folder = socketFolderOf(home, ensureRootFolder(systemFolder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, user.uid, 0);
  // Sockets made in there get the folder's group.
  chmodSync(folder, 0o2770);
  return folder;
}
