// Measures how long a process keeps its event loop busy without a turn, in milliseconds of CPU of its main thread: what
// other processes take from a busy machine does not count, and a slow machine is measured by its own speed.
import { setTimeout as sleep } from 'node:timers/promises';

/** The longest turn that a service may take, in milliseconds of CPU on a machine of usual speed. */
export const longestTurnMs = 50;

/** Milliseconds between two samples: shorter turns are not measured. */
const everyMs = 5;

/** About 5 MB of JSON; parsing it takes `usualParseMs` of CPU on a machine of usual speed. */
const parsedText = JSON.stringify(
  Array.from({ length: 95_000 }, (_, index) => ({ id: index, name: `item ${index}`, tags: ['one', 'two'] })),
);
const usualParseMs = 40;

interface LoopWatch {
  /** The longest turn of the loop since the start or the last `reset`, in milliseconds of CPU. */
  longestMs: () => number;
  reset: () => void;
  stop: () => void;
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Starts to watch the loop of this process. */
export function watchLoop(): LoopWatch {
  let longest = 0;
  let before = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, everyMs);
  timer.unref();
  return {
    longestMs: () => Math.max(longest, cpuMs() - before),
    reset: () => {
      longest = 0;
      before = cpuMs();
    },
    stop: () => clearInterval(timer),
  };
}

/** How many times as long as usual this machine takes at this moment; 1 for a faster one. */
function slowness(): number {
  const before = cpuMs();
  JSON.parse(parsedText);
  return Math.max(1, (cpuMs() - before) / usualParseMs);
}

/**
 * The longest turn of a piece of work, in milliseconds of CPU on a machine of usual speed; where that is over
 * `longestTurnMs`, the least of three readings: what else runs on the machine makes one slower, not three.
 */
export async function longestTurnOf(watch: LoopWatch, work: () => Promise<unknown> | void): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least > longestTurnMs; tries += 1) {
    await sleep(2 * everyMs);
    watch.reset();
    await work();
    await sleep(2 * everyMs);
    const turnMs = watch.longestMs();
    least = Math.min(least, turnMs <= longestTurnMs ? turnMs : turnMs / slowness());
  }
  return least;
}
