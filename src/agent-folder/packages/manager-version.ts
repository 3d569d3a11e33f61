import { isModernYarnLock, namesModernYarn, type PackageManager } from './lock-files.ts';

/** A version of a package manager, and a hash to verify its package. */
export interface ManagerVersion {
  manager: PackageManager;
  version: string;
  /** The hash in the agent's `packageManager`. */
  hash?: { algorithm: string; hex: string } | undefined;
  /** Our own hash of the package, in the format of the registry. */
  integrity?: string | undefined;
}

const exactVersion = /^(npm|pnpm|yarn|bun)@(\d+\.\d+\.\d+(?:-[\w.-]+)?)(?:\+(sha\d+)\.([0-9a-f]+))?$/;

/** The exact version of a manager in `packageManager` of a package.json; undefined if absent or a range. */
export function declaredVersion(
  manager: PackageManager,
  packageManager: string | undefined,
): ManagerVersion | undefined {
  const [, name, version, algorithm, hex] = exactVersion.exec(packageManager?.trim() ?? '') ?? [];
  if (name !== manager || version === undefined) return undefined;
  return { manager, version, ...(algorithm && hex ? { hash: { algorithm, hex } } : {}) };
}

const pinnedVersions = {
  yarn1: {
    manager: 'yarn',
    version: '1.22.22',
    integrity: 'sha512-prL3kGtyG7o9Z9Sv8IPfBNrWTDmXB4Qbes8A9rEzt6wkJV8mUvoirjU0Mp3GGAU06Y0XQyA3/2/RQFVuK7MTfg==',
  },
  yarn3: {
    manager: 'yarn',
    version: '3.8.7',
    integrity: 'sha512-YMoAlLR9f+kxXjK72ggBIidi3ulQQrQpMSxzrLUt0OUk9Xdst2v26LBSYFlzOm+7KRNWgYIJpFjA8uRnCgB5xQ==',
  },
  yarn4: {
    manager: 'yarn',
    version: '4.18.1',
    integrity: 'sha512-EH+A4TxAtBWXKE0DGQxW9Bo9crXHLJ73mfxjTQJuv8XonNWWTpei8BQ5JjczHJNU9GROTycwMFn8iOvRIZXUcA==',
  },
  pnpm7: {
    manager: 'pnpm',
    version: '7.33.7',
    integrity: 'sha512-ev4kEGQrOcaY30baTOXHIxpczjYGmNafjPj0IlfUCz5D8jEFOwe43oSf1P+/SnH/V7g1E3d3o1I4jz09p0cgDg==',
  },
  pnpm8: {
    manager: 'pnpm',
    version: '8.15.9',
    integrity: 'sha512-SZQ0ydj90aJ5Tr9FUrOyXApjOrzuW7Fee13pDzL0e1E6ypjNXP0AHDHw20VLw4BO3M1XhQHkyik6aBYWa72fgQ==',
  },
  pnpm10: {
    manager: 'pnpm',
    version: '10.34.9',
    integrity: 'sha512-9JtajqD97bRLs8DB1ldQkqU8KVDZW3rRXfEfF5dId6LeOgHAfpNOmyjOcW5RwJqUlixzBtCb4uHksYqMh2L9Mg==',
  },
  bun1: { manager: 'bun', version: '1.4.5' },
  npm: { manager: 'npm', version: '11.0.0' },
} as const satisfies Record<string, ManagerVersion>;

/**
 * Our version of a package manager: one that reads the lock file without changing it.
 *
 * @param options.lockHead the beginning of the lock file.
 */
export function pinnedVersion(
  manager: PackageManager,
  {
    lockHead,
    packageManager = '',
    isModernYarnProject = false,
  }: { lockHead: string | undefined; packageManager?: string | undefined; isModernYarnProject?: boolean },
): ManagerVersion {
  if (manager === 'npm') return pinnedVersions.npm;
  if (manager === 'bun') return pinnedVersions.bun1;
  if (manager === 'pnpm') {
    const format = Number(/^lockfileVersion:\s*'?(\d+)/m.exec(lockHead ?? '')?.[1] ?? 9);
    return format < 6 ? pinnedVersions.pnpm7 : format < 9 ? pinnedVersions.pnpm8 : pinnedVersions.pnpm10;
  }
  if (lockHead === undefined) {
    const isModern = isModernYarnProject || namesModernYarn(packageManager);
    const major = Number(/^yarn@\D{0,2}(\d+)/.exec(packageManager)?.[1] ?? (isModern ? 4 : 1));
    return major < 2 ? pinnedVersions.yarn1 : major < 4 ? pinnedVersions.yarn3 : pinnedVersions.yarn4;
  }
  if (!isModernYarnLock(lockHead)) return pinnedVersions.yarn1;
  const format = Number(/^__metadata:\r?\n {1,8}version: {0,8}(\d+)/m.exec(lockHead)?.[1] ?? 8);
  return format < 8 ? pinnedVersions.yarn3 : pinnedVersions.yarn4;
}

/** Whether a version is Yarn 2 or newer, which takes other arguments. */
export const isModernYarn = ({ manager, version }: ManagerVersion): boolean =>
  manager === 'yarn' && Number.parseInt(version, 10) >= 2;

/** The npm package that contains a package manager with all its dependencies. */
export function npmPackageOf({ manager, version }: ManagerVersion, platform: string): string {
  if (manager === 'bun') return `@oven/bun-${platform}@${version}`;
  return isModernYarn({ manager, version }) ? `@yarnpkg/cli-dist@${version}` : `${manager}@${version}`;
}
