import { type Clock, steadyNow } from '../clock.ts';

/**
 * Lets a message through once in a while and drops its repetitions, so that a database which is away for an hour
 * leaves a handful of lines and not thousands.
 *
 * @param every how long a message is not repeated, in milliseconds.
 */
export function oncePerWhile(tell: (message: string) => void, clock: Clock, every = 30_000): (message: string) => void {
  const told = new Map<string, number>();
  return (message) => {
    const now = steadyNow(clock);
    for (const [old, at] of told) if (now - at >= every) told.delete(old);
    if (told.has(message)) return;
    told.set(message, now);
    tell(message);
  };
}
