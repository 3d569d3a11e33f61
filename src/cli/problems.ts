import { inputsFile } from '../config/inputs.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { formatProblem } from '../diagnostics/problem.ts';
import type { Terminal } from './terminal.ts';

/** A problem of an input as it is called here: `--smoke-tests:3:5` in the place of `input:3:5`. */
export function onCommandLine(problem: Problem): Problem {
  return problem.file === inputsFile ? { ...problem, file: `--${problem.field.split(/[.[]/)[0] ?? ''}` } : problem;
}

/** Every problem on a line of its own, in the format of a compiler. */
export function complain(terminal: Terminal, problems: readonly Problem[]): void {
  for (const problem of problems) terminal.complain(formatProblem(problem));
}

/** A problem with an option as a whole. */
export const optionProblem = (option: string, message: string, suggestion?: string): Problem => ({
  file: inputsFile,
  line: 1,
  column: 1,
  field: option,
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
});
