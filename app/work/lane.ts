import { randomUUID } from 'node:crypto';
import type { World } from '../world.ts';
import { keepLease } from './keep-lease.ts';
import { LeaseLost, type Lease } from './store.ts';
import { takeSteps } from './steps.ts';

/** How long a lease is ours without a sign (ms): as long as a process that died keeps a lane from going on. */
export const leaseMs = 60_000;

/**
 * Works on one deployment's lane until it has to wait: takes the lease, goes from step to step, stores each, and leaves
 * the lease with the time of the next look. Nothing is done where another process has the lease or nothing is due.
 * May be called at any time and by any number of processes, and may be killed anywhere.
 *
 * @param signal has it leave at the next step; what is left is gone on with elsewhere.
 */
export async function advanceLane(deploymentId: string, world: World, signal: AbortSignal): Promise<void> {
  // A job that does not begin comes again.
  signal.throwIfAborted();
  const lease = await world.store.takeLease(deploymentId, randomUUID(), leaseMs);
  if (!lease) return;
  const lost = new AbortController();
  const stop = keepLease(lease, leaseMs, world, () => lost.abort(new LeaseLost(deploymentId)));
  const bound = AbortSignal.any([signal, lost.signal]);
  try {
    await work(lease, world, bound);
  } catch (error) {
    if (error instanceof LeaseLost || lost.signal.aborted) {
      world.log(`another process goes on with deployment ${deploymentId}`);
      return;
    }
    await letGo(lease, world, signal.aborted ? 0 : failedMs);
    if (!signal.aborted) throw error;
  } finally {
    stop();
  }
}

/** When a lane is looked at again in which something went wrong that nobody expected (ms); the job comes again too. */
const failedMs = 10_000;

async function work(taken: Lease, world: World, signal: AbortSignal): Promise<void> {
  for (let lease = taken; ; lease = await world.store.renewLease(lease, leaseMs)) {
    const again = await takeSteps({ world, lease, signal });
    if (await world.store.leaveLease(lease, again)) return;
  }
}

/** Gives the lease back whoever woke the lane; where even that fails, the lease ends by itself. */
async function letGo(taken: Lease, world: World, ms: number): Promise<void> {
  try {
    for (let lease = taken; ; lease = await world.store.renewLease(lease, leaseMs)) {
      if (await world.store.leaveLease(lease, world.clock.now() + ms)) return;
    }
  } catch (error) {
    world.log(`the lease of deployment ${taken.deploymentId} was not given back: ${String(error)}`);
  }
}
