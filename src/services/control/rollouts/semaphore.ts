/** Limits how many do something at the same time; the others wait in a queue. */
export function createSemaphore(count: number) {
  let free = count;
  const waiting: { key: string | undefined; serve: () => void }[] = [];
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next) next.serve();
    else free += 1;
  };
  /** Waits for a slot, the oldest first; resolves with its release, or undefined when `signal` aborts before. */
  function take(signal: AbortSignal | undefined, key?: string): Promise<(() => void) | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    if (free > 0) {
      free -= 1;
      return Promise.resolve(giveBack);
    }
    return new Promise((resolve) => {
      const serve = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve(giveBack);
      };
      const waiter = { key, serve };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1);
        resolve(undefined);
      };
      waiting.push(waiter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
  return {
    take,
    /** Does work in a slot, and gives the slot back however the work ends. */
    async run<T>(key: string, work: () => Promise<T>): Promise<T> {
      const release = await take(undefined, key);
      try {
        return await work();
      } finally {
        release?.();
      }
    },
    /** Moves who waits under a key to the front of the queue. */
    prefer(key: string): void {
      const at = waiting.findIndex((waiter) => waiter.key === key);
      if (at > 0) waiting.unshift(...waiting.splice(at, 1));
    },
  };
}
export type Semaphore = ReturnType<typeof createSemaphore>;
