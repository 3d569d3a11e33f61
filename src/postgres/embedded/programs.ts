import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../errors.ts';
import type { Programs } from './cluster.ts';
import { findInstallation, linkLibraries } from './installation.ts';
import type { Installation } from './installation.ts';
import { firstClosed, may, standing, wayTo } from './reach.ts';
import type { ServerUser } from './reach.ts';
import { copyInstallation } from './system-folder.ts';

/**
 * The server's programs in a place where `user` can run them: where npm put them if it may go there, else a copy in
 * root's folder.
 *
 * @param home the data's home, where links between libraries may be made.
 */
export function preparePrograms(
  home: string,
  user: ServerUser | undefined,
  systemFolder: string,
  log: (message: string) => void,
): Programs {
  const found = findInstallation();
  const closed = user === undefined ? undefined : closedPart(found, user);
  if (closed === undefined) {
    return { installation: found, libraries: linkLibraries(found, join(home, 'libraries')), user };
  }
  const installation = copyInstallation(found, systemFolder);
  log(`Postgres runs as ${user?.name}, who may not use ${closed}; its programs are copied to ${installation.root}.`);
  return { installation, libraries: undefined, user };
}

/** The first part of an installation that `user` can't get at. */
function closedPart({ root }: Installation, user: ServerUser): string | undefined {
  const real = realpathSync(root);
  const folders = ['bin', 'lib', 'lib/postgresql', 'share', 'share/postgresql'].map((part) => join(real, part));
  const shut = firstClosed(user, [...wayTo(real), ...folders.map(standing)]);
  if (shut !== undefined) return shut.path;
  const programs = ['initdb', 'postgres'].map((name) => join(real, 'bin', name));
  const libraries = readdirSync(join(real, 'lib')).filter((name) => name.includes('.so'));
  const read = [...libraries.map((name) => join(real, 'lib', name)), join(real, 'share/postgresql/postgres.bki')];
  return programs.find((file) => !may(user, 5, standing(file))) ?? read.find((file) => !may(user, 4, standing(file)));
}

/** The text of `/etc/passwd`; empty where there is none. */
export function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return '';
    throw error;
  }
}
