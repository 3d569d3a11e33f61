export function createSemaphore(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    /** Waits for a slot, the oldest first; resolves with its release, or undefined when `signal` aborts before. */
    take(signal: AbortSignal): Promise<(() => void) | undefined> {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(giveBack);
      }
      return new Promise((resolve) => {
        const served = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(giveBack);
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(served), 1);
          resolve(undefined);
        };
        waiting.push(served);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
export type Semaphore = ReturnType<typeof createSemaphore>;
