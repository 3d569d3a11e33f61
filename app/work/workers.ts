import type { Queue } from '../../src/database/queue.ts';
import type { World } from '../world.ts';
import { advanceLane } from './lane.ts';
import { laneJob } from './postgres-lanes.ts';

/** How the lanes are worked on. */
export interface LaneWorkers {
  queue: Pick<Queue, 'define' | 'work'>;
  world: World;
  /** Lanes at the same time in this process; 8 when absent. */
  concurrency?: number;
  /**
   * No other process works on this database: leases of processes that died are freed, and their lanes gone on with at
   * once instead of when the lease ends.
   */
  alone?: boolean;
  /** Has every lane leave at its next step, before the queue itself stops. */
  signal?: AbortSignal;
}

/** Starts to work on lanes, until the queue stops. What was open when the last process ended is looked at first. */
export async function workOnLanes({
  queue,
  world,
  concurrency = 8,
  alone = false,
  signal,
}: LaneWorkers): Promise<void> {
  await queue.define(laneJob, { heartbeatSeconds: 20 });
  if (alone) await world.store.freeLeases();
  for (const deploymentId of await world.store.busyDeployments()) await world.store.wake(deploymentId);
  await queue.work<{ deploymentId: string }>(laneJob, { concurrency, pollSeconds: 1 }, (job) =>
    advanceLane(job.data.deploymentId, world, signal ? AbortSignal.any([signal, job.signal]) : job.signal),
  );
}
