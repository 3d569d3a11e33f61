import { beUntilToldToLeave } from '../leave.ts';
import { runListener } from './listener-command.ts';

/** Is a listener as this process until it is told to leave, and ends the process. `args` stand behind `landfall listener`. */
export const beListener = (args: readonly string[], version: string): Promise<never> =>
  beUntilToldToLeave((leave) =>
    runListener(args, {
      env: process.env,
      version,
      say: (text) => process.stdout.write(`${text}\n`),
      tell: (text) => process.stderr.write(`${text}\n`),
      leave,
    }),
  );
