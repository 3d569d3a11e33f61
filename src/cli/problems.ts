import { inputs } from '../deploy/file/input-table.ts';
import { inputsFile } from '../deploy/file/inputs.ts';
import { type Problem, formatProblem } from '../kit/diagnostics/problem.ts';
import { variables } from './deploy-flags.ts';
import type { Terminal } from './terminal.ts';

/** The exit codes: 0 only if the outcome passes, 2 if the input is invalid and nothing was tried. */
export const exitCodes = { passes: 0, fails: 1, wrongUsage: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The problem where the key is missing. */
export const keyless = 'the key of the control service is missing: set LANDFALL_API_KEY';

/** The place of a problem of the options together. */
const allOptions = 'options';

/**
 * A problem of an input as it is called here: `--smoke-tests:3:5` in the place of `input:3:5`, `--name x` of `name: x`.
 * One of a whole deployment is one of the option that it misses.
 */
export function onCommandLine({ missing, ...problem }: Problem): Problem {
  if (problem.file !== inputsFile) return problem;
  const name = problem.field === '' ? (missing ?? '') : (problem.field.split(/[.[]/)[0] ?? '');
  const file = name === '' ? allOptions : `--${name}`;
  const variable = missing === undefined ? undefined : variables.get(missing);
  if (variable !== undefined) return { ...problem, file, message: `missing: set it, or ${variable}` };
  const message = problem.message
    .replaceAll(/`([a-z-]+): ([^`]+)`/g, (input, option: string, value: string) =>
      inputs.has(option) ? `\`--${option} ${value}\`` : input,
    )
    .replace('give the inputs,', 'give options,');
  return { ...problem, file, message };
}

/** Refuses a command for what is wrong with its input. */
export function refuse(found: readonly Problem[], code: ExitCode, terminal: Terminal): ExitCode {
  const problems = found.map(onCommandLine);
  complain(terminal, problems);
  terminal.conclude({ outcome: 'refused', passes: false, problems });
  return code;
}

/** Says why a command was refused by the service or by what is there, and what to do. */
export function refuseFor(reason: string, advice: string | undefined, terminal: Terminal): ExitCode {
  terminal.complain(`refused: ${reason}`);
  if (advice !== undefined) terminal.complain(`What to do: ${advice}`);
  terminal.conclude({ outcome: 'refused', passes: false, problems: [], reason, advice: advice ?? null });
  return exitCodes.fails;
}

/** Every problem on a line of its own, in the format of a compiler; that of a whole option has no line. */
export function complain(terminal: Terminal, problems: readonly Problem[]): void {
  for (const problem of problems) {
    const isOption = problem.file.startsWith('--') || problem.file === allOptions;
    const isWhole = isOption && problem.line === 1 && problem.column === 1;
    const line = formatProblem(problem);
    terminal.complain(isWhole ? line.replace(`${problem.file}:1:1:`, `${problem.file}:`) : line);
  }
}
