/** How long leaving may take (ms); what hangs then is left behind, and the next start finds it. */
const leaveWithin = 9_500;
/** Within this (ms) a second signal is the echo of the first: a terminal sends it to us and to who started us. */
const echoWithin = 1_000;

/** Runs a program as this process until SIGINT or SIGTERM, and exits with the code that `run` resolves to. */
export async function runUntilSignal(run: (leave: Promise<void>) => Promise<number>): Promise<never> {
  const { promise: leave, resolve } = Promise.withResolvers<void>();
  let requested: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      // A second signal ends it at once.
      if (requested !== undefined && now - requested > echoWithin) process.exit(1);
      if (requested !== undefined) return;
      requested = now;
      setTimeout(() => process.exit(1), leaveWithin).unref();
      resolve();
    });
  }
  process.exit(await run(leave));
}
