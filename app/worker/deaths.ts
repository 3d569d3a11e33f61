import { constants } from 'node:os';

/** How a process ended: its exit code, or the signal that ended it. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Signals that come from outside: a person, a supervisor, or the kernel where the machine's memory runs out. */
const outsideSignals = new Set<number | undefined>(
  (['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const).map((name) => constants.signals[name]),
);

/**
 * Whether a process was ended from outside, by no fault that it shows itself. V8 ends a process without heap by
 * `SIGABRT` (or a trap), broken native code gets `SIGSEGV` or `SIGBUS`, and an error exits with a code. The kernel's
 * `SIGKILL` may be due to the memory of this process or of any other one, so it proves nothing.
 */
export function isEndedFromOutside({ code, signal }: ProcessEnd): boolean {
  // A shell, or a program that starts others, reports a signal as 128 and its number.
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  return outsideSignals.has(number);
}
