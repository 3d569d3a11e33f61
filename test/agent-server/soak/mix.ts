import type { Chance } from './chance.ts';
import { assistantSteps } from './steps/assistants.ts';
import { cronSteps } from './steps/crons.ts';
import { otherSteps } from './steps/others.ts';
import { runSteps } from './steps/runs.ts';
import { statelessSteps } from './steps/stateless.ts';
import { threadSteps } from './steps/threads.ts';
import type { Step, Worker } from './worker.ts';

/** How often (share of 100) each group is asked, and the steps of it with their own weights. */
const MIX: [number, [number, Step][]][] = [
  [15, assistantSteps],
  [20, threadSteps],
  [30, runSteps],
  [15, statelessSteps],
  [8, cronSteps],
  [12, otherSteps],
];

function drawn<T>(chance: Chance, weighted: readonly (readonly [number, T])[]): T | undefined {
  let left = chance.draw() * weighted.reduce((sum, [weight]) => sum + weight, 0);
  return weighted.find(([weight]) => (left -= weight) < 0)?.[1];
}

/** Takes one step after the other, until it is told to stop. How many that were. */
export async function keepAsking(worker: Worker, stop: AbortSignal): Promise<number> {
  let steps = 0;
  while (!stop.aborted) {
    const group = drawn(worker.chance, MIX);
    await (group && drawn(worker.chance, group))?.(worker);
    steps += 1;
  }
  return steps;
}
