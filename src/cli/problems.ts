import { ServiceError } from '../contract/service-error.ts';
import { adviceOn } from '../deploy/words/advice-on-errors.ts';
import { asSentence } from '../kit/plain-text.ts';
import { inputs } from '../deploy/file/input-table.ts';
import { inputsFile } from '../deploy/file/inputs.ts';
import { type Problem, formatProblem } from '../kit/diagnostics/problem.ts';
import { environmentVariables } from './deploy-flags.ts';
import type { Terminal } from './terminal.ts';

/** The exit codes: 0 only if the outcome passes, 2 if the input is invalid and nothing was sent. */
export const exitCodes = { passes: 0, fails: 1, wrongUsage: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command that can't be carried out, and what to do. */
export class CommandRefused extends Error {
  readonly advice: string | undefined;
  constructor(reason: string, advice?: string) {
    super(reason);
    this.advice = advice;
  }
}

/** How a command gets what it lacks of a service. */
const loginAdvice = ', or log in with landfall login';

/** The `file` of a problem with several options together. */
const allOptions = 'options';

/**
 * Rewrites a problem of an input for the command line: `--smoke-tests:3:5` instead of `input:3:5`, `--name x` instead
 * of `name: x`. A problem of a whole deployment becomes one of the missing option.
 */
export function onCommandLine({ missing, ...problem }: Problem): Problem {
  if (problem.file !== inputsFile) return problem;
  const name = problem.field === '' ? (missing ?? '') : (problem.field.split(/[.[]/)[0] ?? '');
  const file = name === '' ? allOptions : `--${name}`;
  const variable = missing === undefined ? undefined : environmentVariables.get(missing);
  if (variable !== undefined) return { ...problem, file, message: `missing: set it, or ${variable}${loginAdvice}` };
  const message = problem.message
    .replaceAll(/`([a-z-]+): ([^`]+)`/g, (input, option: string, value: string) =>
      inputs.has(option) ? `\`--${option} ${value}\`` : input,
    )
    .replace('give the inputs,', 'give options,');
  return { ...problem, file, message };
}

/** Refuses a command because of invalid input. */
export function refuseInput(reported: readonly Problem[], code: ExitCode, terminal: Terminal): ExitCode {
  const problems = reported.map(onCommandLine);
  complain(terminal, problems);
  terminal.conclude({ outcome: 'refused', passes: false, problems });
  return code;
}

/** Prints why a command can't be carried out, and what to do. */
export function refuseFor(reason: string, advice: string | undefined, terminal: Terminal): ExitCode {
  terminal.complain(`refused: ${reason}`);
  if (advice !== undefined) terminal.complain(`What to do: ${advice}`);
  terminal.conclude({ outcome: 'refused', passes: false, problems: [], reason, advice: advice ?? null });
  return exitCodes.fails;
}

/** Refuses a command whose arguments do not fit together. Nothing was sent. */
export function refuseUsage(reason: string, terminal: Terminal): ExitCode {
  terminal.complain(reason);
  terminal.conclude({ outcome: 'refused', passes: false, problems: [], reason, advice: null });
  return exitCodes.wrongUsage;
}

/** Prints what a service did not do, and what to do. Throws every other error again. */
export function refuseFailure(error: unknown, terminal: Terminal): ExitCode {
  if (!(error instanceof ServiceError)) throw error;
  return refuseFor(asSentence(error.message), adviceOn(error, 'run'), terminal);
}

/** Prints every problem on its own line in the format of a compiler. A problem of a whole option has no position. */
export function complain(terminal: Terminal, problems: readonly Problem[]): void {
  for (const problem of problems) {
    const isOption = problem.file.startsWith('--') || problem.file === allOptions;
    const isWholeOption = isOption && problem.line === 1 && problem.column === 1;
    const line = formatProblem(problem);
    terminal.complain(isWholeOption ? line.replace(`${problem.file}:1:1:`, `${problem.file}:`) : line);
  }
}
