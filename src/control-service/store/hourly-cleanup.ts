import { type Clock, steadyNow } from '../../clock.ts';

/** The shortest interval between two cleanups (ms). */
const betweenMs = 3_600_000;

/** Creates a function that cleans up at its first call, and then at most once an hour. */
export function onceAWhile(clock: Clock, tidyUp: () => Promise<void>): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const now = steadyNow(clock);
    if (now < next) return;
    next = now + betweenMs;
    await tidyUp();
  };
}
