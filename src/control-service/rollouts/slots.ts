export interface Slots {
  /**
   * Waits for a slot; the oldest waiter is served first.
   *
   * @returns releases the slot, to be called once; undefined when `signal` aborted before there was one.
   */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
}

export function slots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    take(signal) {
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
