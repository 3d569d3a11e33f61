/** Limits how many operations run at the same time; the others wait in a queue. */
export function createSemaphore(count: number) {
  let free = count;
  const waiting: { key: string | undefined; grant: () => void }[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next.grant();
    else free += 1;
  };
  /** Waits for a slot, first come, first served. Resolves with its release, or undefined if `signal` aborts first. */
  function take(signal: AbortSignal | undefined, key?: string): Promise<(() => void) | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    if (free > 0) {
      free -= 1;
      return Promise.resolve(release);
    }
    return new Promise((resolve) => {
      const grant = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve(release);
      };
      const waiter = { key, grant };
      const cancel = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1);
        resolve(undefined);
      };
      waiting.push(waiter);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }
  return {
    take,
    /** Runs work in a slot, and releases the slot however the work ends. */
    async run<T>(key: string, work: () => Promise<T>): Promise<T> {
      const release = await take(undefined, key);
      try {
        return await work();
      } finally {
        release?.();
      }
    },
    /** Moves the waiting operation with this key to the front of the queue. */
    moveToFront(key: string): void {
      const index = waiting.findIndex((waiter) => waiter.key === key);
      if (index > 0) waiting.unshift(...waiting.splice(index, 1));
    },
  };
}
export type Semaphore = ReturnType<typeof createSemaphore>;
