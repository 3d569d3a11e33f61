import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lockFiles, type PackageManager } from '../../../agent-folder/packages/lock-files.ts';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { readBelow } from '../../../agent-folder/packages/checkout-files.ts';

const maxLockBytes = 32_000_000;

/** Where the lock file of a build's install is kept, outside of it: a build made again gets the same packages. */
const madeLockFolder = (dataDir: string, build: string): string => join(dataDir, 'locks', basename(build));

/** Keeps the lock file that an install made in `folder`, if it made one. */
export function keepMadeLock(manager: PackageManager, folder: string, dataDir: string, build: string): void {
  for (const [name] of lockFiles.filter(([, each]) => each === manager)) {
    const bytes = readBelow(folder, name, maxLockBytes + 1);
    if (bytes === undefined || bytes.length > maxLockBytes) continue;
    const kept = madeLockFolder(dataDir, build);
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    writeFileSync(join(kept, name), bytes, { mode: 0o600 });
    return;
  }
}

/** Puts the lock file that an earlier install of the same build made into the checkout; returns its name, if any. */
export function restoreMadeLock(folder: string, dataDir: string, build: string): string | undefined {
  const kept = madeLockFolder(dataDir, build);
  const name = unlessCode(missingCodes, [], () => readdirSync(kept)).find((each) =>
    lockFiles.some(([file]) => file === each),
  );
  if (name === undefined || existsSync(join(folder, name))) return undefined;
  writeFileSync(join(folder, name), readFileSync(join(kept, name)), { flag: 'wx' });
  return name;
}

const pythonList = 'python-packages.txt';

/** Keeps which packages of Python a build has, as a file of requirements. */
export function keepPythonPackages(requirements: string, dataDir: string, build: string): void {
  const kept = madeLockFolder(dataDir, build);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  writeFileSync(join(kept, pythonList), requirements, { mode: 0o600 });
}

/** The packages of Python that an earlier install of this build chose, if any. */
export const keptPythonPackages = (dataDir: string, build: string): string | undefined =>
  unlessCode(missingCodes, undefined, () => readFileSync(join(madeLockFolder(dataDir, build), pythonList), 'utf8'));

/** Whether an earlier install of this build made a lock file. */
export const hasMadeLock = (dataDir: string, build: string): boolean => existsSync(madeLockFolder(dataDir, build));

export const removeMadeLock = (dataDir: string, build: string): void =>
  rmSync(madeLockFolder(dataDir, build), { recursive: true, force: true, maxRetries: 3 });
