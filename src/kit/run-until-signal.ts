/** How long a graceful shutdown may take (ms); the next start cleans up after one that hung. */
const shutdownTimeoutMs = 9_500;
/** A second signal within this time (ms) is a duplicate: a terminal signals this process and its parent. */
const signalEchoMs = 1_000;

/** Runs a program as this process until SIGINT or SIGTERM, and exits with the code that `run` resolves to. */
export async function runUntilSignal(run: (leave: Promise<void>) => Promise<number>): Promise<never> {
  const { promise: leave, resolve } = Promise.withResolvers<void>();
  let requested: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      // A second signal ends it at once.
      if (requested !== undefined && now - requested > signalEchoMs) process.exit(1);
      if (requested !== undefined) return;
      requested = now;
      setTimeout(() => process.exit(1), shutdownTimeoutMs).unref();
      resolve();
    });
  }
  process.exit(await run(leave));
}

/** What a program gets of its process. */
export interface ProgramEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  /** Standard output: for the results. */
  say: (text: string) => void;
  /** Standard error: for everything else. */
  printError: (text: string) => void;
  /** Whether standard error is a terminal: then the log is for a person. */
  isTerminal?: boolean;
  /** Resolves when the program must shut down. */
  leave: Promise<void>;
}

/** Runs a program as this process until a signal, and ends the process. */
export const runProgram = (run: (environment: ProgramEnvironment) => Promise<number>): Promise<never> =>
  runUntilSignal((leave) =>
    run({
      env: process.env,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      isTerminal: process.stderr.isTTY,
      leave,
    }),
  );
