import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../../../../kit/json-object.ts';
import { unlessCode } from '../../../../kit/errors.ts';

/** How a file is loaded, which decides the build of a package that it gets. */
export type ModuleKind = 'module' | 'commonjs';

/** Node's rule: the extension decides, else the nearest package.json. */
export function moduleKind(file: string): ModuleKind {
  if (/\.m[jt]s$/i.test(file)) return 'module';
  if (/\.c[jt]s$/i.test(file)) return 'commonjs';
  const description = findPackageJSON(pathToFileURL(file));
  // If there is no package.json, Node returns the file itself.
  if (description === undefined || basename(description) !== 'package.json') return 'commonjs';
  return readJson(description)['type'] === 'module' ? 'module' : 'commonjs';
}

/**
 * The file that `import` or `require` of a package reaches from `from`; undefined if it is not installed there, or has
 * no such entry point in that version. Resolved from the importing module, because two builds are two sets of classes.
 */
export function packageEntry(
  name: string,
  from: string,
  kind: ModuleKind,
  entryPoint: '.' | `./${string}` = '.',
): string | undefined {
  const description = descriptionOf(name, from);
  if (description === undefined) return undefined;
  const { exports: exported, main } = readJson(description);
  const entryPoints = isObject(exported) && '.' in exported ? exported : { '.': exported };
  const conditions = ['node', kind === 'module' ? 'import' : 'require', 'default'];
  const entry = choose(entryPoints[entryPoint], conditions);
  if (entry === undefined && entryPoint !== '.') return undefined;
  return join(dirname(description), entry ?? (typeof main === 'string' ? main : 'index.js'));
}

/** The version of a package that `from` imports; undefined if it is not installed there. */
export function packageVersion(name: string, from: string): string | undefined {
  const description = descriptionOf(name, from);
  const version = description && readJson(description)['version'];
  return typeof version === 'string' ? version : undefined;
}

/** The package.json of a package that `from` imports. */
const descriptionOf = (name: string, from: string): string | undefined =>
  unlessCode(['ERR_MODULE_NOT_FOUND'], undefined, () => findPackageJSON(name, pathToFileURL(from)));

/** The first matching condition, in the package's own order. */
function choose(exported: unknown, conditions: readonly string[]): string | undefined {
  if (typeof exported === 'string') return exported;
  if (!isObject(exported)) return undefined;
  for (const [condition, inner] of Object.entries(exported)) {
    const found = conditions.includes(condition) ? choose(inner, conditions) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function readJson(path: string): Record<string, unknown> {
  const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return isObject(json) ? json : {};
}
