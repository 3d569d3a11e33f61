import { runUntilSignal } from '../run-until-signal.ts';
import { runLocal } from './local-command.ts';

/** Runs the services in this process until a signal, then exits. `args` as for `npm run local --`. */
export const beLocal = (args: readonly string[]): Promise<never> =>
  runUntilSignal((leave) =>
    runLocal([...args], {
      env: process.env,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      isTerminal: process.stderr.isTTY,
      leave,
    }),
  );
