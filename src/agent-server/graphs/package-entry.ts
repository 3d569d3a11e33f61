import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../../contract/json-object.ts';
import { hasCode } from '../../errors.ts';

/** How a file is loaded, which decides the build of a package that it gets. */
export type ModuleKind = 'module' | 'commonjs';

/** Node's rule: the extension decides, else the nearest package.json. */
export function moduleKind(file: string): ModuleKind {
  if (/\.m[jt]s$/i.test(file)) return 'module';
  if (/\.c[jt]s$/i.test(file)) return 'commonjs';
  const description = findPackageJSON(pathToFileURL(file));
  // If there is no package.json, Node returns the file itself.
  if (description === undefined || basename(description) !== 'package.json') return 'commonjs';
  return Reflect.get(readJson(description), 'type') === 'module' ? 'module' : 'commonjs';
}

/**
 * The file that `import` or `require` of a package reaches from `from`; undefined if it is not installed there.
 * Resolved from the importing module, because two builds are two sets of classes.
 */
export function packageEntry(name: string, from: string, kind: ModuleKind): string | undefined {
  const description = findFrom(name, from);
  if (description === undefined) return undefined;
  const json = readJson(description);
  const exported: unknown = Reflect.get(json, 'exports');
  const root = isObject(exported) && '.' in exported ? exported['.'] : exported;
  const main: unknown = Reflect.get(json, 'main');
  const entry = choose(root, conditionsOf(kind)) ?? (typeof main === 'string' ? main : 'index.js');
  return join(dirname(description), entry);
}

/**
 * The file of another entry point of a package, for example `./zod/schema`; undefined if the package, in that version,
 * has none of that name.
 */
export function packageEntryFile(
  name: string,
  entryFile: `./${string}`,
  from: string,
  kind: ModuleKind,
): string | undefined {
  const description = findFrom(name, from);
  if (description === undefined) return undefined;
  const exported: unknown = Reflect.get(readJson(description), 'exports');
  const entry = isObject(exported) ? choose(exported[entryFile], conditionsOf(kind)) : undefined;
  return entry === undefined ? undefined : join(dirname(description), entry);
}

const conditionsOf = (kind: ModuleKind): string[] => ['node', kind === 'module' ? 'import' : 'require', 'default'];

function findFrom(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(from));
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

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

function readJson(path: string): object {
  const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return isObject(json) ? json : {};
}
