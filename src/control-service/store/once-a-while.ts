import { type Clock, steadyNow } from '../../clock.ts';

/** How long a tidying up lies back at least before it is done again (ms). */
const betweenMs = 3_600_000;

/** Makes a function that tidies up at its first call, and later once an hour at most. */
export function onceAWhile(clock: Clock, tidyUp: () => Promise<void>): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const now = steadyNow(clock);
    if (now < next) return;
    next = now + betweenMs;
    await tidyUp();
  };
}
