import { runUntilSignal } from '../run-until-signal.ts';
import { runListener } from './listener-command.ts';

/** Runs a listener as this process until it is stopped, and ends the process. `args` follow `landfall listener`. */
export const beListener = (args: readonly string[], version: string): Promise<never> =>
  runUntilSignal((leave) =>
    runListener(args, {
      env: process.env,
      version,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      isTerminal: process.stderr.isTTY,
      leave,
    }),
  );
