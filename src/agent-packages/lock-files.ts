export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** The lock files, and the package manager of each. Of several in a folder the first is used. */
export const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** Whether a yarn.lock is from Yarn 2 or newer. */
export const isModernYarnLock = (text: string | Buffer): boolean => text.includes('__metadata:');
