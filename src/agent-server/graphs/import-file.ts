import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { register } from 'tsx/esm/api';

let registered = false;

/**
 * Enables TypeScript with features that Node's type stripping rejects, such as enums, by the settings of the agent's
 * `tsconfig.json` if there is one. Called once per process.
 */
export function acceptTypeScript(folder: string): void {
  if (registered) return;
  registered = true;
  const tsconfig = join(folder, 'tsconfig.json');
  register({ tsconfig: existsSync(tsconfig) ? tsconfig : false });
}

/** Imports a file of the agent; rejects with what loading or running the file threw. */
export async function importFile(path: string): Promise<object> {
  const module: unknown = await import(pathToFileURL(path).href);
  return typeof module === 'object' && module !== null ? module : {};
}

/** Returns an export by name; a CommonJS module may hold it in its default export. */
export function exportOf(module: object, name: string): unknown {
  const own: unknown = Reflect.get(module, name);
  const fallback: unknown = Reflect.get(module, 'default');
  if (name === 'default') return isModuleLike(own) ? Reflect.get(own, 'default') : own;
  return own ?? (isModuleLike(fallback) ? Reflect.get(fallback, name) : undefined);
}

/** The names of a module's exports, for messages. */
export function exportNames(module: object): string[] {
  const fallback: unknown = Reflect.get(module, 'default');
  const names = [...Object.keys(module), ...(isModuleLike(fallback) ? Object.keys(fallback) : [])];
  return [...new Set(names)].filter((name) => name !== 'module.exports' && name !== '__esModule');
}

const isModuleLike = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Reflect.get(value, '__esModule') === true;
