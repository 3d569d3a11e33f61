import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from '../../../../agent-folder/packages/project-folders.ts';
import { chainOf, hasCode, messageOf } from '../../../../kit/errors.ts';
import { StartupError, type StartupCode } from '../../startup-error.ts';

const stackLines = 8;

/**
 * Describes an error from loading a module of the agent, with `file:line`. @param what names the module, such as `graph
 * "asker"`. @param folder the agent's, to which paths in the message are relative.
 */
export function explainLoading(error: unknown, what: string, file: string, folder: string): StartupError {
  const at = (path: string) => relative(folder, path) || path;
  const explained = (code: StartupCode, ...lines: string[]) => new StartupError(code, lines, { cause: error });
  if (!(error instanceof Error)) {
    return explained('graph-threw', `${at(file)}: loading ${what} threw ${typeof error}: ${String(error)}`);
  }
  const missing = missingModule(error);
  if (missing) {
    const where = missing.importer ? `${at(missing.importer)}${lineOf(missing.importer, missing.name)}` : at(file);
    const advice = /^[./]/.test(missing.name)
      ? 'Check the path; a file that a build makes needs its build command.'
      : 'Add it to the dependencies in package.json and commit the lock file.';
    return explained('graph-module-missing', `${where}: cannot find "${missing.name}", which ${what} needs. ${advice}`);
  }
  const syntax = /^(?:file:\/\/)?(\/.+?|[A-Za-z]:\\.+?):(\d+):(\d+): (?:ERROR|error): (.*)$/m.exec(error.message);
  if (syntax) {
    const [, path = file, line, column, message] = syntax;
    return explained('graph-syntax', `${at(path)}:${line}:${column}: ${message}`);
  }
  const code = error instanceof SyntaxError ? 'graph-syntax' : 'graph-threw';
  const root = packageFolders(folder).at(-1) ?? folder;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const own = frames
    .map(placeIn)
    .find((place) => place?.path.startsWith(`${root}${sep}`) && !place.path.includes('node_modules'));
  const where = own ? `${at(own.path)}:${own.line}:${own.column}` : at(file);
  const shown = frames
    .slice(0, stackLines)
    .map((line) => line.trim().replaceAll('file://', '').replaceAll(`${folder}/`, ''));
  const causes = chainOf(error)
    .slice(1)
    .map((cause) => `Caused by: ${messageOf(cause)}`);
  return explained(code, `${where}: loading ${what} threw ${error.name}: ${error.message}`, ...shown, ...causes);
}

/** The missing module, and the file that imports it. */
function missingModule(error: Error): { name: string; importer: string | undefined } | undefined {
  if (!hasCode(error, 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND')) return undefined;
  const name = /Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1];
  const importer = /imported from (\S+)/.exec(error.message)?.[1] ?? firstRequirer(error);
  return name === undefined ? undefined : { name, importer: importer && toPath(importer) };
}

function firstRequirer(error: Error): string | undefined {
  const stack: unknown = 'requireStack' in error ? error.requireStack : undefined;
  const first: unknown = Array.isArray(stack) ? stack[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/** `:line` of the place where a file names a module; empty if not found. */
function lineOf(file: string, name: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error) return '';
    throw error;
  }
  const last = name.split('/').at(-1) ?? name;
  const line = text.split('\n').findIndex((each) => /\b(?:import|from|require)\b/.test(each) && each.includes(last));
  return line < 0 ? '' : `:${line + 1}`;
}

function placeIn(frame: string): { path: string; line: string; column: string } | undefined {
  const position = /:(\d+):(\d+)\)?$/.exec(frame);
  if (!position) return undefined;
  const file = frame.slice(frame.lastIndexOf('(') + 1, position.index);
  const start = file.search(/file:\/\/|\/|[A-Za-z]:\\/);
  return start < 0
    ? undefined
    : { path: toPath(file.slice(start)), line: position[1] ?? '', column: position[2] ?? '' };
}

const toPath = (place: string): string => {
  const bare = place.split('?')[0] ?? place;
  return bare.startsWith('file://') ? fileURLToPath(bare) : bare;
};
