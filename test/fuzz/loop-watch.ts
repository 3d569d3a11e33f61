// Measures how long a process keeps its event loop busy without a turn, in milliseconds of CPU of its main thread:
// what other processes take from a busy machine does not count.
//
//   const watch = watchLoop();  …  watch.longestMs()               in this process
//   node --import <this file> main.ts                              in a child process: with LANDFALL_LOOP_REPORT=<file>
//                                                                  each new longest turn is written to that file
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two samples: shorter turns are not measured. */
const everyMs = 5;

export interface LoopWatch {
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
export function watchLoop(onLonger: (ms: number) => void = () => undefined): LoopWatch {
  let longest = 0;
  let before = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    if (now - before > longest) {
      longest = now - before;
      onLonger(longest);
    }
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

/**
 * The longest turn of a piece of work, in milliseconds of CPU; where that is over `enoughMs`, the least of three such
 * readings: what else runs on the machine makes one slower, not three.
 */
export async function longestTurnOf(
  watch: LoopWatch,
  enoughMs: number,
  work: () => Promise<unknown> | void,
): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least > enoughMs; tries += 1) {
    await sleep(2 * everyMs);
    watch.reset();
    await work();
    await sleep(2 * everyMs);
    least = Math.min(least, watch.longestMs());
  }
  return least;
}

const report = process.env['LANDFALL_LOOP_REPORT'];
if (report !== undefined) {
  // A test that looks at what comes after the start empties the file; the next longest turn after that is written anew.
  const watch = watchLoop((ms) => {
    writeFileSync(report, String(ms));
  });
  process.on('SIGUSR2', () => {
    watch.reset();
    writeFileSync(report, '0');
  });
}
