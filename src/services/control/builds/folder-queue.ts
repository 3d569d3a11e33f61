import { createSemaphore, type Semaphore } from '../rollouts/semaphore.ts';

const queues = new Map<string, { slots: Semaphore; users: number }>();

/**
 * Runs work on a folder that only one build at a time may use; the others wait, first come, first served. The lock of
 * the data folder keeps other processes out. Returns undefined if `signal` aborts first.
 */
export async function runInFolderQueue<T>(
  folder: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const queue = queues.get(folder) ?? { slots: createSemaphore(1), users: 0 };
  queues.set(folder, queue);
  queue.users += 1;
  try {
    const release = await queue.slots.take(signal);
    if (!release) return undefined;
    try {
      return await work();
    } finally {
      release();
    }
  } finally {
    queue.users -= 1;
    if (queue.users === 0) queues.delete(folder);
  }
}

export const isInUse = (folder: string): boolean => queues.has(folder);
