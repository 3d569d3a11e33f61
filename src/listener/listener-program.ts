import { runUntilSignal } from '../run-until-signal.ts';
import { runListener } from './listener-command.ts';

/** Is a listener as this process until it is told to leave, and ends the process. `args` stand behind `landfall listener`. */
export const beListener = (args: readonly string[], version: string): Promise<never> =>
  runUntilSignal((leave) =>
    runListener(args, {
      env: process.env,
      version,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      leave,
    }),
  );
