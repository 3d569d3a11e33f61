import { homedir } from 'node:os';
import { join } from 'node:path';

/** The data folder of a clone, in its working directory. */
const ofClone = '.landfall';

/**
 * Where the service keeps its data unless `--data` names a folder. A clone keeps it beside its sources. The package is
 * started in folders of all kinds, so it uses the one that a system has for the data of programs.
 *
 * @see https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function usualDataFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  program: string = import.meta.filename,
): string {
  if (program.endsWith('.ts')) return ofClone;
  return join(env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share'), 'landfall');
}
