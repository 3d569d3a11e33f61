import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { firstClosed, type ServerUser, wayTo } from './file-access.ts';
import { ensureRootFolder } from './system-folder.ts';
import type { Logger } from '../../logger.ts';

/** Where the data of one requested folder lies. */
export interface Placement {
  /** The requested folder, as a real path. */
  requested: string;
  /** The folder that holds the lock, the password, the server's log and the data itself. */
  home: string;
  /** Whether `home` was chosen just now, different from the requested folder, which has no note of it yet. */
  moved: boolean;
}

/** The folder of the database cluster inside a home. */
export const clusterOf = (home: string): string => join(home, 'cluster');

/** Where the data of a requested folder lies already, without making anything; `undefined` when there is none. */
export function existingHome(dataDir: string): string | undefined {
  if (!existsSync(dataDir)) return undefined;
  const note = noteIn(dataDir);
  const home = existsSync(note) ? readNote(note) : realpathSync(dataDir);
  return existsSync(clusterOf(home)) ? home : undefined;
}

/**
 * Decides where the data lies: in the requested folder, or, when the server's user can't get there, in a folder of
 * root's that is named after it. A note in the requested folder says so, and from then on the note decides.
 *
 * @throws Error when the data that the folder had can't be reached or is gone: to start with an empty database
 *   instead would look like a loss.
 */
export function placeData(dataDir: string, user: ServerUser | undefined, systemFolder: string): Placement {
  const requested = makeFolder(resolve(dataDir), user === undefined ? 0o700 : 0o711);
  if (existsSync(noteIn(requested))) return { requested, home: notedHome(requested, user, systemFolder), moved: false };

  const closed = user === undefined ? undefined : firstClosed(user, wayTo(requested));
  if (user === undefined || closed === undefined) return { requested, home: requested, moved: false };
  if (existsSync(clusterOf(requested))) {
    throw new Error(
      `The database in ${requested} can't be reached by the user ${user.name}, who runs Postgres: ` +
        `${closed.path} has mode ${(closed.mode & 0o777).toString(8).padStart(4, '0')}. Let others enter it (chmod o+x), or choose another data folder.`,
    );
  }
  const home = ensureRootFolder(join(ensureRootFolder(systemFolder), `data-${folderKey(requested)}`));
  return { requested, home, moved: true };
}

/** The name under which a requested folder's data lies in root's folder. */
export const folderKey = (requested: string): string => hash('sha256', requested).slice(0, 16);

/**
 * Completes a move once its home is ours alone: data without a note belongs to a requested folder that was
 * removed, so it is put aside, kept but not used; then the note is written.
 */
export function finishMove({ requested, home, moved }: Placement, now: Date, log: Logger): void {
  if (!moved) return;
  if (existsSync(clusterOf(home))) {
    const kept = join(home, `until-${now.toISOString().replaceAll(':', '')}`);
    mkdirSync(kept, { mode: 0o711 });
    for (const part of ['cluster', 'password']) renameSync(join(home, part), join(kept, part));
    log.info(
      `${requested} begins with an empty database; the one of the former folder of that name is kept in ${kept}.`,
    );
  }
  writeFileSync(noteIn(requested), `${home}\n`, { mode: 0o600 });
}

const noteIn = (requested: string): string => join(requested, 'moved-to');

function makeFolder(folder: string, mode: number): string {
  const first = mkdirSync(folder, { recursive: true });
  // What we made ourselves gets this mode whatever the umask says; what was there keeps its own.
  if (first !== undefined) {
    for (let made = folder; made.length >= first.length; made = dirname(made)) chmodSync(made, mode);
  }
  const real = realpathSync(folder);
  try {
    accessSync(real, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `The data folder ${real} belongs to another user (number ${statSync(real).uid}) and is closed to this one. Run as that user, or choose another data folder.`,
      { cause: error },
    );
  }
  return real;
}

const readNote = (note: string): string => readFileSync(note, 'utf8').trim();

/** The home in the note of a requested folder: only a note that only root could have written is trusted. */
function notedHome(requested: string, user: ServerUser | undefined, systemFolder: string): string {
  const note = noteIn(requested);
  const home = readNote(note);
  if (dirname(home) !== systemFolder || !/^data-[0-9a-f]{16}$/.test(basename(home))) {
    throw new Error(`${note} names ${home}, which is no place for a database. Remove it to begin with an empty one.`);
  }
  if (user === undefined) {
    throw new Error(
      `The database of ${requested} was made by root and is kept in ${home}. Run as root, or choose another data folder.`,
    );
  }
  if (!existsSync(home)) {
    throw new Error(
      `The database of ${requested} was kept in ${home}, which is gone. Bring that folder back, or remove ${note} to begin with an empty database.`,
    );
  }
  return ensureRootFolder(home);
}
