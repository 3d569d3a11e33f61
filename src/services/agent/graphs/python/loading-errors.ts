import type { GraphLocation, ExportPath } from '../../../../agent-folder/graph-config/graph-path.ts';
import { fieldName, type FieldPath } from '../../../../kit/diagnostics/problem.ts';
import type { Configuration } from '../../configuration.ts';
import { missingExport, missingFile, noGraph } from '../javascript/load.ts';
import { cannotLoad, noExport } from '../javascript/agent-export.ts';
import { StartupError, type StartupCode } from '../../startup-error.ts';
import { WorkerError } from './worker-error.ts';

/** How many lines of a traceback are shown. */
const maxLines = 16;
/** Where a frame is none of the agent's own code. */
const ofOthers = /^ *File "(?:<frozen |[^"]*(?:\/site-packages\/|\/lib\/python3|\/landfall_worker\/))/;

/** What went wrong while the worker loaded a graph, in the terms of a start; other failures stay as they are. */
export function explainGraph(error: unknown, { graphId, file, exportName }: GraphLocation): unknown {
  if (!(error instanceof WorkerError)) return error;
  switch (error.code) {
    case 'file-missing':
      return missingFile(file, graphId);
    case 'export-missing':
      return missingExport(file, { graphId, exportName }, namesIn(error));
    case 'not-a-graph':
      return noGraph(file, { graphId, exportName });
    default:
      return new StartupError(...thrown(error, `graph "${graphId}"`, file), { cause: error });
  }
}

/** What went wrong while the worker loaded a field of the configuration file. @param kind what another export is. */
export function explainField(
  error: unknown,
  { invalid }: Pick<Configuration, 'invalid'>,
  path: FieldPath,
  named: ExportPath | { model: string },
  kind: string,
): unknown {
  if (!(error instanceof WorkerError)) return error;
  const field = `\`${fieldName(path)}\``;
  const { file, exportName } = 'model' in named ? { file: named.model, exportName: '' } : named;
  switch (error.code) {
    case 'file-missing':
      return invalid(path, `${field} names a file that is not there: ${file}`);
    case 'export-missing':
      return noExport({ invalid }, path, { file, exportName }, namesIn(error));
    case undefined: {
      const [, lines] = thrown(error, field, file);
      return cannotLoad({ invalid }, path, lines, error);
    }
    default:
      return invalid(path, `${field}: export "${exportName}" of ${file} is ${kind}`);
  }
}

const namesIn = ({ message }: WorkerError): string[] => message.split(', ').filter((name) => name !== '');

/** What the agent's own code raised: for a module that is missing what to do, else the traceback. */
function thrown(error: WorkerError, what: string, file: string): [StartupCode, string[]] {
  if (error.type === 'ModuleNotFoundError') {
    const advice = 'Add its package to the dependencies of the agent, or check the path of a module of its own.';
    return ['graph-module-missing', [`${file}: ${what} needs a module that is not there: ${error.message}. ${advice}`]];
  }
  const code = ['SyntaxError', 'IndentationError', 'TabError'].includes(error.type) ? 'graph-syntax' : 'graph-threw';
  const said = `${file}: loading ${what} raised ${error.type}: ${error.message}`;
  return [code, [said, ...causesOf(error), ...shownLines(error.traceback ?? '')]];
}

function causesOf({ cause }: WorkerError): string[] {
  return cause instanceof WorkerError ? [`Caused by: ${cause.type}: ${cause.message}`, ...causesOf(cause)] : [];
}

/** The frames of the agent's own code, the last one of others, and what follows it. */
function shownLines(traceback: string): string[] {
  const frames: string[][] = [];
  for (const line of traceback.split('\n').filter((each) => each.trim() !== '')) {
    const last = frames.at(-1);
    if (last === undefined || line.startsWith('  File "')) frames.push([line]);
    else last.push(line);
  }
  return frames
    .filter(([first = ''], index) => index === frames.length - 1 || !ofOthers.test(first))
    .flat()
    .slice(-maxLines);
}
