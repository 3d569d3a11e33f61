// Measures how long a process keeps its event loop busy without a turn, in milliseconds of CPU of its main thread: what
// other processes take from a busy machine does not count.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from './cpu.ts';

/** The longest turn that a service may take, in milliseconds of CPU. */
export const longestTurnMs = 50;

/** Milliseconds between two samples: shorter turns are not measured. */
const everyMs = 5;

interface LoopWatch {
  /** The longest turn of the loop since the start or the last `reset`, in milliseconds of CPU. */
  longestMs: () => number;
  reset: () => void;
  stop: () => void;
}

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

/** A piece of work like that of a service, and the milliseconds of CPU that an ordinary core takes for it. */
const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [at.toString(36).padStart(6, 'r'), 1]));
const ordinaryMs = 5;
const times = 20;

/** How many times slower than an ordinary core this one is now: where memory is shared, its CPU time is longer too. */
function slowness(): number {
  const before = cpuMs();
  for (let time = 0; time < times; time += 1) JSON.stringify(many);
  return Math.max(1, (cpuMs() - before) / times / ordinaryMs);
}

/**
 * The longest turn of a piece of work, in milliseconds of an ordinary core; where that is over `longestTurnMs`, the least of eight readings: what else runs on the machine makes some slower, not all.
 */
export async function longestTurnOf(watch: LoopWatch, work: () => Promise<unknown> | void): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 8 && least > longestTurnMs; tries += 1) {
    await sleep(2 * everyMs);
    watch.reset();
    await work();
    await sleep(2 * everyMs);
    const longest = watch.longestMs();
    least = Math.min(least, longest > longestTurnMs ? longest / slowness() : longest);
  }
  return least;
}
