import { createSemaphore, type Semaphore } from '../rollouts/semaphore.ts';

const queues = new Map<string, { slots: Semaphore; takers: number }>();

/**
 * Runs work on a folder that only one build at a time may use; the others wait, the oldest first. The lock of the data
 * folder makes it this process's own. Returns undefined when `signal` aborted before its turn.
 */
export async function inFolderQueue<T>(
  folder: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const queue = queues.get(folder) ?? { slots: createSemaphore(1), takers: 0 };
  queues.set(folder, queue);
  queue.takers += 1;
  try {
    const giveBack = await queue.slots.take(signal);
    if (!giveBack) return undefined;
    try {
      return await work();
    } finally {
      giveBack();
    }
  } finally {
    queue.takers -= 1;
    if (queue.takers === 0) queues.delete(folder);
  }
}

export const isInUse = (folder: string): boolean => queues.has(folder);
