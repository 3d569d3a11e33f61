import { type Clock, steadyNow } from '../clock.ts';

/**
 * Lets a message through once in a while and drops its repetitions, so that a database which is away for an hour
 * leaves a handful of lines and not thousands.
 *
 * @param every how long a message is not repeated, in milliseconds.
 */
export function oncePerWhile(
  report: (message: string) => void,
  clock: Clock,
  every = 30_000,
): (message: string) => void {
  const reported = new Map<string, number>();
  return (message) => {
    const now = steadyNow(clock);
    for (const [old, at] of reported) if (now - at >= every) reported.delete(old);
    if (reported.has(message)) return;
    reported.set(message, now);
    report(message);
  };
}
