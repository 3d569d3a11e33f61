import { runLocal } from './local-command.ts';

/** How long leaving may take (ms); what hangs then is left behind, and the next start finds it. */
const leaveWithin = 9_500;
/** Within this (ms) a second signal is the echo of the first: a terminal sends it to us and to who started us. */
const echoWithin = 1_000;

/** Runs the services as this process until it is told to leave, and ends the process. `args` as `npm run local --` has them. */
export async function beLocal(args: readonly string[]): Promise<never> {
  const { promise: leave, resolve } = Promise.withResolvers<void>();
  let asked: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      // Asked twice, a person means it.
      if (asked !== undefined && now - asked > echoWithin) process.exit(1);
      if (asked !== undefined) return;
      asked = now;
      setTimeout(() => process.exit(1), leaveWithin).unref();
      resolve();
    });
  }
  const code = await runLocal([...args], {
    env: process.env,
    say: (text) => process.stdout.write(`${text}\n`),
    tell: (text) => process.stderr.write(`${text}\n`),
    leave,
  });
  process.exit(code);
}
