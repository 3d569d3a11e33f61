import { systemClock, type Clock } from '../../../src/kit/clock.ts';
import type { Queue } from '../../../src/kit/postgres/queue.ts';

/** Time that passes `faster` times as fast as the machine's own. It is the same in every process. */
export const hurriedClock = (faster: number): Clock => ({
  now: () => hurried(systemClock.now(), faster),
  sleep: (ms, signal) => systemClock.sleep(ms / faster, signal),
});

/** A queue that gets dates of the faster clock, and converts them to the machine's. */
export function hurriedQueue(queue: Queue, faster: number): Queue {
  const real = (startAfter: Date | number | undefined): { startAfter?: Date } => {
    if (startAfter === undefined) return {};
    const at =
      typeof startAfter === 'number' ? systemClock.now() + (startAfter * 1_000) / faster : startAfter.getTime();
    return { startAfter: new Date(typeof startAfter === 'number' ? at : unhurried(at, faster)) };
  };
  return {
    ...queue,
    send: (name, data, options = {}) => queue.send(name, data, { ...options, ...real(options.startAfter) }),
    sendMany: (name, jobs, options) =>
      queue.sendMany(
        name,
        jobs.map((job) => ({ ...job, ...real(job.startAfter) })),
        options,
      ),
  };
}

const epoch = Date.parse('2026-01-01T00:00:00Z');
const hurried = (now: number, faster: number): number => epoch + (now - epoch) * faster;
const unhurried = (at: number, faster: number): number => epoch + (at - epoch) / faster;
