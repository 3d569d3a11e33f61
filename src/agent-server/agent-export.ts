import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { splitExportPath } from '../graph-config/export-path.ts';
import { didYouMean } from '../diagnostics/did-you-mean.ts';
import { fieldName } from '../diagnostics/problem.ts';
import type { FieldPath } from '../diagnostics/problem.ts';
import type { Configuration } from './configuration.ts';
import { explainLoading } from './graphs/import-error.ts';
import { acceptTypeScript, exportNames, exportOf, importFile } from './graphs/import-file.ts';
import { StartupError } from './startup-error.ts';

/**
 * Returns an export that the configuration file names, such as `./src/auth.ts:auth`.
 *
 * @param path of the field in the configuration file.
 * @param named the value of that field.
 * @param configPath absolute path of the configuration file; the named file is relative to its folder.
 * @throws StartupError with the line in the configuration file if the export is missing or loading it threw.
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
  acceptTypeScript(folder);
  const module = await importFile(source).catch((error: unknown) => {
    const { lines } = explainLoading(error, field, source, folder);
    const [first = ''] = invalid(path, `\`${field}\` can't be loaded`).lines;
    throw new StartupError('config-invalid', [first, ...lines], { cause: error });
  });
  const exported = exportOf(module, exportName);
  if (exported !== undefined && exported !== null) return exported;
  const names = exportNames(module);
  const there = names.length === 0 ? 'nothing' : names.map((name) => `"${name}"`).join(', ');
  const meant = didYouMean(exportName, names);
  const suggestion = meant === undefined || meant === exportName ? '' : `; did you mean "${meant}"?`;
  throw invalid(path, `\`${field}\`: ${file} exports no "${exportName}"; it exports ${there}${suggestion}`);
}
