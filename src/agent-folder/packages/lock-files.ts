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

/** The npm package of the graph engine. */
export const enginePackage = '@langchain/langgraph';

/** How a line begins that names an engine that was found, in the output of `src/services/agent/prepare.ts`. */
export const engineLine = 'landfall-engine ';

/** The first version that can run: the public agent server needs it too. */
const neededVersion = [0, 2, 57] as const;

/** Why a version of the graph engine can't run, in two sentences; undefined for one that can, and for one that can't be read. */
export function engineProblem(found: string | undefined): string | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)/
    .exec(found ?? '')
    ?.slice(1)
    .map(Number);
  const at = parts?.findIndex((part, index) => part !== neededVersion[index]) ?? -1;
  if (parts === undefined || at < 0 || (parts[at] ?? 0) > (neededVersion[at] ?? 0)) return undefined;
  const needed = neededVersion.join('.');
  return `${enginePackage} is ${found}, and agents need ${needed} or later. Update it in package.json and commit the new lock file.`;
}

const escaped = enginePackage.replace('/', '\\/');
/** Where each package manager's lock file has the version. */
const inLockFile: Record<PackageManager, RegExp> = {
  npm: new RegExp(`"(?:[^"\\n]*/)?node_modules/${escaped}": \\{\\s*"version": "([^"]+)"`, 'g'),
  yarn: new RegExp(`^"${escaped}@[^\\n]*:\\n\\s+version:? "?([^"\\s]+)`, 'gm'),
  pnpm: new RegExp(`^ {2}'?/?${escaped}[@/](\\d[^(:'_]*)`, 'gm'),
  bun: new RegExp(`\\["${escaped}@([^"]+)"`, 'g'),
};

/** The version of the graph engine in a lock file; undefined if it has none or several, of which one may be another package's. */
export function lockedEngine(manager: PackageManager, lockFile: string): string | undefined {
  const found = new Set([...lockFile.matchAll(inLockFile[manager])].map(([, version]) => version));
  return found.size === 1 ? [...found][0] : undefined;
}
