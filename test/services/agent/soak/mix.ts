import type { Chance } from './chance.ts';
import { assistantSteps } from './steps/assistants.ts';
import { cronSteps } from './steps/crons.ts';
import { otherSteps } from './steps/others.ts';
import { runSteps } from './steps/runs.ts';
import { statelessSteps } from './steps/stateless.ts';
import { threadSteps } from './steps/threads.ts';
import type { Step, Worker } from './worker.ts';

/** The share (of 100) of each group of steps, and the weights within it. */
export type Mix = readonly [number, readonly [number, Step][]][];

const MIX: Mix = [
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

/** Runs steps until it is stopped; returns the number of steps. */
export async function keepAsking(worker: Worker, stop: AbortSignal, mix: Mix = MIX): Promise<number> {
  let steps = 0;
  while (!stop.aborted) {
    const group = drawn(worker.chance, mix);
    await (group && drawn(worker.chance, group))?.(worker);
    steps += 1;
  }
  return steps;
}
