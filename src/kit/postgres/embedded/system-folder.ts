import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { hasCode, messageOf, unlessCode } from '../../errors.ts';
import type { Installation } from './installation.ts';

/** Where root keeps what the server's user must reach and can't reach in the requested folder. */
export const defaultSystemFolder = '/var/lib/landfall';

/**
 * Makes sure of a folder of root's that everyone may enter and only root may write.
 *
 * @throws Error when it exists and is a link, belongs to another user, or others may write in it: a server and its
 *   password must not lie where another user can exchange them.
 */
export function ensureRootFolder(folder: string): string {
  makeUnlessThere(folder);
  const found = lstatSync(folder);
  const mode = found.mode & 0o7777;
  if (!found.isDirectory() || found.uid !== 0 || (mode & 0o022) !== 0) {
    const what = found.isDirectory() ? `owner ${found.uid}, mode ${mode.toString(8).padStart(4, '0')}` : 'not a folder';
    throw new Error(
      `${folder} must be a folder that only root may write in, but it is not (${what}). Put that right or remove it.`,
    );
  }
  return folder;
}

function makeUnlessThere(folder: string): void {
  try {
    mkdirSync(folder);
    chmodSync(folder, 0o755);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return;
    throw new Error(
      `${folder} can't be made (${messageOf(error)}). It is needed because Postgres does not run as root, ` +
        'and another user can not get at the data folder or at the programs. Let others enter those, or set DATABASE_URL.',
      { cause: error },
    );
  }
}

/** Copies the server's programs into root's folder, once for each build, with all library links made. */
export function copyInstallation(installation: Installation, systemFolder: string): Installation {
  const target = join(ensureRootFolder(systemFolder), `postgres-${installation.build}`);
  if (!existsSync(target)) {
    // Copied aside and renamed: what has the name is whole, also when two processes do this at once.
    const aside = mkdtempSync(`${target}-copying-`);
    chmodSync(aside, 0o755);
    // Static archives are for linking programs, not for running them.
    const options = { recursive: true, verbatimSymlinks: true, filter: (path: string) => !path.endsWith('.a') };
    for (const part of ['bin', 'lib', 'share']) {
      cpSync(join(installation.root, part), join(aside, part), options);
      makeReadable(join(aside, part));
    }
    for (const { name, file } of installation.missingLinks) symlinkSync(basename(file), join(aside, 'lib', name));
    moveInto(aside, target);
  }
  ensureRootFolder(target);
  return { root: target, build: installation.build, missingLinks: [] };
}

/** Lets everyone read a folder, and run what its owner may run: an install under a strict umask closes it. */
export function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

/** Gives a complete copy its name; removes it where another process was first. */
export function moveInto(aside: string, target: string): void {
  unlessCode(['ENOTEMPTY', 'EEXIST'], undefined, () => renameSync(aside, target));
  rmSync(aside, { recursive: true, force: true });
}
