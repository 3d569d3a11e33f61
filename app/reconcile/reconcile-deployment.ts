import { randomUUID } from 'node:crypto';
import type { AppContext } from '../context.ts';
import { longestLeaseMs } from './queue-state.ts';
import { keepLease } from './keep-lease.ts';
import { LeaseLost, type Lease } from './store.ts';
import { takeSteps } from './steps.ts';

/** How long a lease is ours without a sign (ms): as long as a process that died keeps a lane from going on. */
export const leaseMs = longestLeaseMs;

/**
 * Works on one deployment's lane until it has to wait: takes the lease, goes from step to step, stores each, and leaves
 * the lease with the time of the next look. Nothing is done where another process has the lease or nothing is due.
 * May be called at any time and by any number of processes, and may be killed anywhere.
 *
 * @param signal has it leave at the next step; what is left is gone on with elsewhere.
 */
export async function reconcileDeployment(
  deploymentId: string,
  context: AppContext,
  signal: AbortSignal,
): Promise<void> {
  // A job that does not begin comes again.
  signal.throwIfAborted();
  const lease = await context.store.takeLease(deploymentId, randomUUID(), leaseMs);
  if (!lease) return;
  const lost = new AbortController();
  const stop = keepLease(lease, leaseMs, context, () => lost.abort(new LeaseLost(deploymentId)));
  const bound = AbortSignal.any([signal, lost.signal]);
  try {
    await work(lease, context, bound);
  } catch (error) {
    if (error instanceof LeaseLost || lost.signal.aborted) {
      context.log(`another process goes on with deployment ${deploymentId}`);
      return;
    }
    await letGo(lease, context, signal.aborted ? 0 : failedMs);
    if (!signal.aborted) throw error;
  } finally {
    stop();
  }
}

/** When a lane is looked at again in which something went wrong that nobody expected (ms); the job comes again too. */
const failedMs = 10_000;

async function work(taken: Lease, context: AppContext, signal: AbortSignal): Promise<void> {
  for (let lease = taken; ; lease = await context.store.renewLease(lease, leaseMs)) {
    const again = await takeSteps({ context, lease, signal });
    if (await context.store.leaveLease(lease, again)) return;
  }
}

/** Gives the lease back whoever woke the lane; where even that fails, the lease ends by itself. */
async function letGo(taken: Lease, context: AppContext, ms: number): Promise<void> {
  try {
    for (let lease = taken; ; lease = await context.store.renewLease(lease, leaseMs)) {
      if (await context.store.leaveLease(lease, context.clock.now() + ms)) return;
    }
  } catch (error) {
    context.log(`the lease of deployment ${taken.deploymentId} was not given back: ${String(error)}`);
  }
}
