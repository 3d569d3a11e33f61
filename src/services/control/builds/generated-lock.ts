import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lockFiles, type PackageManager } from '../../../agent-folder/packages/lock-files.ts';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { readBelow } from '../../../agent-folder/packages/checkout-files.ts';

const maxLockBytes = 32_000_000;

/** The folder that keeps a build's generated lock file after the build is removed: a repeated build gets equal packages. */
const lockFolder = (dataDir: string, build: string): string => join(dataDir, 'locks', basename(build));

/** Keeps the lock file that an install generated in `folder`, if any. */
export function keepGeneratedLock(manager: PackageManager, folder: string, dataDir: string, build: string): void {
  for (const [name] of lockFiles.filter(([, each]) => each === manager)) {
    const bytes = readBelow(folder, name, maxLockBytes + 1);
    if (bytes === undefined || bytes.length > maxLockBytes) continue;
    const target = lockFolder(dataDir, build);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    writeFileSync(join(target, name), bytes, { mode: 0o600 });
    return;
  }
}

/** Copies the lock file that an earlier install of the build generated into the checkout; returns its name, if any. */
export function restoreGeneratedLock(folder: string, dataDir: string, build: string): string | undefined {
  const kept = lockFolder(dataDir, build);
  const name = unlessCode(missingCodes, [], () => readdirSync(kept)).find((each) =>
    lockFiles.some(([file]) => file === each),
  );
  if (name === undefined || existsSync(join(folder, name))) return undefined;
  writeFileSync(join(folder, name), readFileSync(join(kept, name)), { flag: 'wx' });
  return name;
}

const pythonList = 'python-packages.txt';

/** Keeps the list of a build's Python packages, as a file of requirements. */
export function keepPythonPackages(requirements: string, dataDir: string, build: string): void {
  const kept = lockFolder(dataDir, build);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  writeFileSync(join(kept, pythonList), requirements, { mode: 0o600 });
}

/** The Python packages that an earlier install of this build chose, as requirements, if any. */
export const readPythonPackages = (dataDir: string, build: string): string | undefined =>
  unlessCode(missingCodes, undefined, () => readFileSync(join(lockFolder(dataDir, build), pythonList), 'utf8'));

/** Gives a copied build the lock files that the installs of the original generated. */
export const copyGeneratedLock = (dataDir: string, from: string, to: string): void =>
  unlessCode(missingCodes, undefined, () =>
    cpSync(lockFolder(dataDir, from), lockFolder(dataDir, to), { recursive: true }),
  );

/** Whether an earlier install of this build generated a lock file. */
export const hasGeneratedLock = (dataDir: string, build: string): boolean => existsSync(lockFolder(dataDir, build));

export const removeGeneratedLock = (dataDir: string, build: string): void =>
  rmSync(lockFolder(dataDir, build), { recursive: true, force: true, maxRetries: 3 });
