import { randomUUID } from 'node:crypto';
import { stackOf } from '../../src/kit/errors.ts';
import type { AppContext } from '../context.ts';
import { maxLeaseMs as leaseMs } from './queue-state.ts';
import { LeaseLost, type Lease } from './store.ts';
import { takeSteps } from './steps.ts';
import { pause } from '../../src/kit/clock.ts';

/**
 * Reconciles one deployment's queue until it is idle: takes the lease, stores every step, and releases the lease with
 * the time of the next pass. Does nothing if another process has the lease or nothing is due. Any number of processes
 * may call it at any time, and a crash anywhere is safe.
 *
 * @param signal stops at the next step; another pass continues from there.
 */
export async function reconcileDeployment(
  deploymentId: string,
  context: AppContext,
  signal: AbortSignal,
): Promise<void> {
  // A job that does not start is retried.
  signal.throwIfAborted();
  const lease = await context.store.takeLease(deploymentId, randomUUID(), leaseMs);
  if (!lease) return;
  const lost = new AbortController();
  const stop = keepLease(lease, context, () => lost.abort(new LeaseLost(deploymentId)));
  const bound = AbortSignal.any([signal, lost.signal]);
  try {
    await releaseAfter(lease, context, (held) => takeSteps({ context, lease: held, signal: bound }));
  } catch (error) {
    if (error instanceof LeaseLost || lost.signal.aborted) {
      context.log.warn(`another process took over deployment ${deploymentId}`);
      return;
    }
    await forceReleaseLease(lease, context, signal.aborted ? 0 : failedMs);
    if (!signal.aborted) throw error;
  } finally {
    stop();
  }
}

/** Delay before a queue is retried after an unexpected error (ms), besides the job's own retry. */
const failedMs = 10_000;

/** Releases the lease with the time of the next pass that `work` returns, and works again where it was notified. */
async function releaseAfter(
  taken: Lease,
  { store }: AppContext,
  work: (lease: Lease) => Promise<number | undefined>,
): Promise<void> {
  let lease = taken;
  while (!(await store.leaveLease(lease, await work(lease)))) lease = await store.renewLease(lease, leaseMs);
}

/** Releases the lease, even if the queue was notified. If that fails, the lease expires. */
async function forceReleaseLease(taken: Lease, context: AppContext, ms: number): Promise<void> {
  try {
    await releaseAfter(taken, context, async () => context.clock.now() + ms);
  } catch (error) {
    context.log.warn(`the lease of deployment ${taken.deploymentId} was not released: ${stackOf(error)}`);
  }
}

/** Renews a lease until the returned function is called. `lost` is called once another process holds it. */
function keepLease(lease: Lease, { store, clock, log }: AppContext, lost: () => void): () => void {
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await pause(clock, leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      try {
        await store.renewLease(lease, leaseMs);
      } catch (error) {
        if (error instanceof LeaseLost) {
          if (!done.signal.aborted) lost();
          return;
        }
        log.warn(`the lease of deployment ${lease.deploymentId} was not renewed: ${stackOf(error)}`);
      }
    }
  };
  void renew();
  return () => done.abort();
}
