import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hasCode, messageOf } from '../../errors.ts';
import type { Installation } from './installation.ts';
import { clusterOf } from './placement.ts';
import type { ServerUser } from './file-access.ts';

/** The superuser that owns everything in an embedded server. */
export const superuser = 'landfall';

/** How the server's programs are run. */
export interface Programs {
  installation: Installation;
  /** A folder of library links that the loader needs. */
  libraries: string | undefined;
  /** Runs them as this user rather than as ourselves. */
  user: ServerUser | undefined;
}

/** How the server's programs are spawned: without our environment, its `PG...` variables and its secrets. */
export function programOptions({ libraries, user }: Programs) {
  const loader = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return {
    cwd: '/',
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      ...(libraries === undefined ? {} : { [loader]: libraries }),
    },
    detached: true,
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  };
}

/**
 * Makes the database cluster of a home unless it has one, written through to the disk if `durable`, and returns the
 * superuser's password, which lies in the home for later starts. Throws what `initdb` said when it fails.
 */
export async function ensureCluster(home: string, programs: Programs, durable: boolean): Promise<string> {
  const cluster = clusterOf(home);
  const passwordFile = join(home, 'password');
  for (const half of readdirSync(home).filter((entry) => entry.startsWith('cluster-making-'))) {
    // The initdb of a killed process may still be writing there.
    rmSync(join(home, half), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  if (existsSync(cluster)) return readPassword(passwordFile, cluster);

  const password = randomBytes(24).toString('base64url');
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
  // Made aside and renamed: a cluster that has its name is whole.
  const aside = join(home, `cluster-making-${randomBytes(6).toString('hex')}`);
  mkdirSync(aside, { mode: 0o700 });
  const passwordPath = join(aside, 'password');
  writeFileSync(passwordPath, password, { mode: 0o600, flag: 'wx' });
  const made = join(aside, 'cluster');
  if (programs.user !== undefined) changeOwner([aside, passwordPath], programs.user);
  await initialise(made, passwordPath, programs, durable);
  rmSync(passwordPath);
  renameSync(made, cluster);
  rmSync(aside, { recursive: true });
  return password;
}

function changeOwner(paths: string[], { name, uid, gid }: ServerUser): void {
  try {
    for (const path of paths) chownSync(path, uid, gid);
  } catch (error) {
    throw new Error(
      `Postgres does not run as root, and this root may not hand files to the user ${name} (${messageOf(error)}). ` +
        'Run as an ordinary user, or set DATABASE_URL to a Postgres server of yours.',
      { cause: error },
    );
  }
}

function readPassword(file: string, cluster: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new Error(
    `${file} is gone, which holds the password of the database in ${cluster}. Bring it back, or remove the cluster's folder to begin with an empty database.`,
  );
}

async function initialise(folder: string, passwordFile: string, programs: Programs, durable: boolean): Promise<void> {
  const { installation, user } = programs;
  const child = spawn(
    join(installation.root, 'bin', 'initdb'),
    [
      `--pgdata=${folder}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--no-instructions',
      '--encoding=UTF8',
      // Bytes decide the order and a table inside Postgres the letters: no library of the machine has a say.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(durable ? [] : ['--no-sync']),
    ],
    { ...programOptions(programs), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'close');
  const [said, [code, signal]] = await Promise.all([
    Promise.all([text(child.stdout), text(child.stderr)]),
    ended,
  ]).catch((error: unknown) => {
    throw explainSpawn(error, programs);
  });
  if (code === 0) return;
  const words = said.join('\n').trim();
  const advice = words.includes('could not look up effective user ID')
    ? '\nPostgres wants its user to have a line in /etc/passwd. Add one, or set DATABASE_URL to a Postgres server of yours.'
    : '';
  throw new Error(
    `The embedded Postgres could not make its database in ${folder} (initdb ended with ${code ?? signal}` +
      `${user === undefined ? '' : `, run as ${user.name}`}):\n${words}${advice}`,
  );
}

/** What it means that a program of the installation could not be run at all. */
export function explainSpawn(error: unknown, { installation, user }: Programs): Error {
  const why = messageOf(error);
  const reason =
    user !== undefined && hasCode(error, 'EPERM', 'EINVAL')
      ? `Postgres does not run as root, and this root may not run it as the user ${user.name} (${why}). Run as an ordinary user, or set`
      : `The programs of the embedded Postgres in ${installation.root} can't be run (${why}). They are made for the C library glibc and need to be executable. Set`;
  return new Error(`${reason} DATABASE_URL to a Postgres server of yours.`, { cause: error });
}
