import { runUntilSignal } from '../run-until-signal.ts';
import { runLocal } from './local-command.ts';

/** Runs the services as this process until it is told to leave, and ends the process. `args` as `npm run local --` has them. */
export const beLocal = (args: readonly string[]): Promise<never> =>
  runUntilSignal((leave) =>
    runLocal([...args], {
      env: process.env,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      leave,
    }),
  );
