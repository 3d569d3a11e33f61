/** Milliseconds of CPU that this thread has taken so far. */
export const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The minimum (ms) that is reported for a task: below it the CPU clock and the garbage collector dominate. */
const floorMs = 4;

/** Milliseconds of CPU of this thread that a piece of work takes: the best of a few times, and at least `floorMs`. */
export function cpuOf(work: () => unknown, times = 3): number {
  let best = Infinity;
  for (let time = 0; time < times; time += 1) {
    const before = cpuMs();
    work();
    best = Math.min(best, cpuMs() - before);
  }
  return Math.max(best, floorMs);
}
