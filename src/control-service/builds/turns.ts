import { slots, type Slots } from '../rollouts/slots.ts';

/** Who works in a folder, and how many wait for it. */
interface Queue {
  slots: Slots;
  takers: number;
}

const queues = new Map<string, Queue>();

/**
 * Does a piece of work on a folder that one build at a time may work in; the others wait, the oldest first. The folder is
 * this process's alone by the lock of the data folder, so nothing on the disk has to say who is in it: after a `kill -9`
 * there is no lock that anybody would have to judge.
 *
 * @param folder an absolute path.
 * @returns undefined when `signal` aborted before it was this one's turn.
 */
export async function inTurn<T>(folder: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  const queue = queues.get(folder) ?? { slots: slots(1), takers: 0 };
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

/** Whether someone works in a folder, or waits to. */
export const isInUse = (folder: string): boolean => queues.has(folder);
