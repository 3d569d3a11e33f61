import { type Clock, steadyNow } from '../clock.ts';

/** How long (ms) a message is not repeated. */
const every = 30_000;

/**
 * Lets a message through once in a while and drops its repetitions, so that a database which is away for an hour
 * leaves a handful of lines and not thousands.
 */
export function throttleMessages(report: (message: string) => void, clock: Clock): (message: string) => void {
  const reported = new Map<string, number>();
  return (message) => {
    const now = steadyNow(clock);
    for (const [old, at] of reported) if (now - at >= every) reported.delete(old);
    if (reported.has(message)) return;
    reported.set(message, now);
    report(message);
  };
}
