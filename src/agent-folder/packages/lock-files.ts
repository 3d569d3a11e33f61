export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** The lock files with their package managers. If a folder has several, the first one in this list is used. */
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

/** The settings file that only Yarn 2 and newer reads. */
export const modernYarnSettings = '.yarnrc.yml';

/** Whether `packageManager` of a package.json names Yarn 2 or newer. */
export const namesModernYarn = (packageManager: string | undefined): boolean =>
  /^yarn@(?:\D{0,2}(?:[2-9]|\d{2})|berry|stable)/.test(packageManager ?? '');

/** The npm package of the graph engine. */
export const enginePackage = '@langchain/langgraph';

/** The prefix of the line in which `src/services/agent/prepare.ts` prints the engine's version. */
export const engineLinePrefix = 'landfall-engine ';

/** The first version that can run; also required by the public agent server. */
const minimumVersion = [0, 2, 57] as const;

/** Why a version of the graph engine can't run, in two sentences; undefined if it can, or is not a version. */
export function engineProblem(version: string | undefined): string | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  const firstDifference = parts?.findIndex((part, index) => part !== minimumVersion[index]) ?? -1;
  if (
    parts === undefined ||
    firstDifference < 0 ||
    (parts[firstDifference] ?? 0) > (minimumVersion[firstDifference] ?? 0)
  )
    return undefined;
  const needed = minimumVersion.join('.');
  return `${enginePackage} is ${version}, and agents need ${needed} or later. Update it in package.json and commit the new lock file.`;
}

const escapedPackage = enginePackage.replace('/', '\\/');
/** Patterns that find the version in the lock file of each package manager. */
const versionPatterns: Record<PackageManager, RegExp> = {
  npm: new RegExp(`"(?:[^"\\n]*/)?node_modules/${escapedPackage}": \\{\\s*"version": "([^"]+)"`, 'g'),
  yarn: new RegExp(`^"${escapedPackage}@[^\\n]*:\\n\\s+version:? "?([^"\\s]+)`, 'gm'),
  pnpm: new RegExp(`^ {2}'?/?${escapedPackage}[@/](\\d[^(:'_]*)`, 'gm'),
  bun: new RegExp(`\\["${escapedPackage}@([^"]+)"`, 'g'),
};

/** The version of the graph engine in a lock file; undefined if there is none, or several of different packages. */
export function lockedEngineVersion(manager: PackageManager, lockFile: string): string | undefined {
  const versions = new Set([...lockFile.matchAll(versionPatterns[manager])].map(([, version]) => version));
  return versions.size === 1 ? [...versions][0] : undefined;
}
