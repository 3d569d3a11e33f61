import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { didYouMean } from '../../../../kit/diagnostics/did-you-mean.ts';
import { fieldName, type FieldPath } from '../../../../kit/diagnostics/problem.ts';
import type { Configuration } from '../../configuration.ts';
import { explainLoading } from './import-error.ts';
import { StartupError } from '../../startup-error.ts';
import { pathToFileURL } from 'node:url';
import { acceptTypeScript } from './accept-typescript.ts';
import { splitExportPath, type ExportPath } from '../../../../agent-folder/graph-config/graph-path.ts';

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

/**
 * Returns an export that the configuration file names, such as `./src/auth.ts:auth`. @param path of the field whose
 * value is `named`. @throws StartupError with the line if it is missing or loading it threw.
 */
export async function agentExport(
  { invalid }: Pick<Configuration, 'invalid'>,
  path: FieldPath,
  named: string,
  configPath: string,
): Promise<unknown> {
  const folder = dirname(configPath);
  const { file, exportName } = splitExportPath(named);
  const field = fieldName(path);
  const source = resolve(folder, file);
  if (!existsSync(source)) throw invalid(path, `\`${field}\` names a file that is not there: ${file}`);
  await acceptTypeScript(folder);
  const module = await importFile(source).catch((error: unknown) => {
    throw cannotLoad({ invalid }, path, explainLoading(error, field, source, folder).lines, error);
  });
  const exported = exportOf(module, exportName);
  if (exported !== undefined && exported !== null) return exported;
  throw noExport({ invalid }, path, { file, exportName }, exportNames(module));
}

/** The error for a field that names a missing export. @param names what its module exports. */
export function noExport(
  { invalid }: Pick<Configuration, 'invalid'>,
  path: FieldPath,
  { file, exportName }: ExportPath,
  names: readonly string[],
): StartupError {
  const there = names.length === 0 ? 'nothing' : names.map((name) => `"${name}"`).join(', ');
  const meant = didYouMean(exportName, names);
  const suggestion = meant === undefined || meant === exportName ? '' : `; did you mean "${meant}"?`;
  return invalid(path, `\`${fieldName(path)}\`: ${file} exports no "${exportName}"; it exports ${there}${suggestion}`);
}

/** What a field names raised while it was loaded: the first line, which alone is seen in many places, says why. */
export function cannotLoad(
  { invalid }: Pick<Configuration, 'invalid'>,
  path: FieldPath,
  [why = '', ...rest]: readonly string[],
  cause: unknown,
): StartupError {
  const [first = ''] = invalid(path, `\`${fieldName(path)}\` can't be loaded: ${why}`).lines;
  return new StartupError('config-invalid', [first, ...rest], { cause });
}
