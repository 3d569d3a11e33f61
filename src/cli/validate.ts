import { isAbsolute, posix } from 'node:path';
import { defaultConfigPath, readDrafts } from '../config/deploy-file.ts';
import type { Inputs } from '../config/door-options.ts';
import { readDesired } from '../config/read-desired.ts';
import { readGraphConfig } from '../graph-config/read.ts';
import { formatProblem, type Problem } from '../located/problem.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { readTextFile } from './files.ts';
import { complain, onCommandLine } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** What was read, and what is wrong with it. Warnings stop nothing. */
export interface Validation {
  files: string[];
  problems: Problem[];
  warnings: Problem[];
}

/** Reads the deploy file, and the graph configuration files that it names where they lie below the working directory. */
export function validate(inputs: Inputs): Validation {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind !== 'read') {
    const message = `there is no deploy file here: write one, or say with --config where it is`;
    const absent: Problem = { file: path, line: 1, column: 1, field: '', message };
    return { files: [], problems: [file.kind === 'absent' ? absent : file.problem], warnings: [] };
  }
  const read = readDesired({ inputs, file: { text: file.text, path } });
  const graphConfigs = graphConfigPaths(file.text, path).map(validateGraphConfig);
  const problems = [
    ...(read.ok ? [] : read.problems.map(onCommandLine)),
    ...graphConfigs.flatMap((each) => each.problems),
  ];
  return {
    files: [path, ...graphConfigs.flatMap((each) => each.files)],
    problems,
    warnings: graphConfigs.flatMap((each) => each.warnings),
  };
}

/** Validates and tells; no key and no address is needed, and nothing is sent. */
export function tellValidation(inputs: Inputs, terminal: Terminal): ExitCode {
  const { files, problems, warnings } = validate(inputs);
  for (const warning of warnings) terminal.complain(`${formatProblem(warning)} (warning)`);
  complain(terminal, problems);
  const fine = problems.length === 0;
  if (fine) for (const file of files) terminal.tell(`${file}: fine`);
  terminal.conclude({ fine, files, problems, warnings });
  return fine ? exitCodes.passes : exitCodes.wrongUsage;
}

/** The graph configuration files that the deployments name, each once, however much else is wrong with the file. */
function graphConfigPaths(text: string, path: string): string[] {
  const drafts = readDrafts(text, path);
  if (!drafts.ok) return [];
  const paths = drafts.drafts.map(({ fields }) => fields.get('graph-config-path')?.value);
  const within = paths.filter((each) => typeof each === 'string').map((each) => posix.normalize(each.trim()));
  return [...new Set(within)].filter((each) => !isAbsolute(each) && each !== '.' && !each.startsWith('..'));
}

/** One that is not there may belong to another repository, or be made later: that is told, and stops nothing. */
function validateGraphConfig(path: string): Validation {
  const file = readTextFile(path);
  if (file.kind === 'absent') {
    const message =
      'this graph configuration file is not here, so it was not looked at: right only where it belongs to another repository';
    return { files: [], problems: [], warnings: [{ file: path, line: 1, column: 1, field: '', message }] };
  }
  if (file.kind === 'unreadable') return { files: [path], problems: [file.problem], warnings: [] };
  const read = readGraphConfig(file.text, path);
  return { files: [path], problems: read.ok ? [] : read.problems, warnings: read.ok ? read.warnings : [] };
}
