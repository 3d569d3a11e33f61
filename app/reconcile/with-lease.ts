import { randomUUID } from 'node:crypto';
import type { AppContext } from '../context.ts';
import type { Lease } from './store.ts';

const leaseMs = 30_000;

/** Another worker holds the lease of the deployment, so its open intents can't be changed now. The event is retried. */
export class DeploymentBusy extends Error {
  constructor(deploymentId: string) {
    super(`deployment ${deploymentId} is being worked on; what is open there is changed at the next attempt`);
    this.name = 'DeploymentBusy';
  }
}

/** Changes a deployment's queue from outside of its passes, and notifies it. @throws DeploymentBusy */
export async function withLease(
  { store, clock }: Pick<AppContext, 'store' | 'clock'>,
  deploymentId: string,
  change: (lease: Lease) => Promise<unknown>,
): Promise<void> {
  await store.wake(deploymentId);
  const lease = await store.takeLease(deploymentId, randomUUID(), leaseMs);
  if (!lease) throw new DeploymentBusy(deploymentId);
  try {
    await change(lease);
  } finally {
    // Other intents may be open: notify the queue, so that the next worker starts now.
    for (let current = lease; !(await store.leaveLease(current, clock.now()));)
      current = await store.renewLease(current, leaseMs);
  }
}
