export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** The lock files, and the package manager of each. Of several in a folder the first is used. */
export const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['npm-shrinkwrap.json', 'npm'],
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** Whether a yarn.lock is from Yarn 2 or newer. */
export const isModernYarnLock = (text: string | Buffer): boolean => text.includes('__metadata:');

/** The settings that only Yarn 2 and newer reads. */
export const modernYarnSettings = '.yarnrc.yml';

/** Whether `packageManager` of a package.json names Yarn 2 or newer. */
export const namesModernYarn = (packageManager: string | undefined): boolean =>
  /^yarn@(?:\D{0,2}(?:[2-9]|\d{2})|berry|stable)/.test(packageManager ?? '');
