import type { Queue } from '../../src/postgres/queue.ts';
import type { AppContext } from '../context.ts';
import { reconcileDeployment } from './reconcile-deployment.ts';
import { reconcileJob } from './postgres-queues.ts';

/** Options of the reconcile workers. */
export interface ReconcileWorkers {
  queue: Pick<Queue, 'define' | 'work'>;
  context: AppContext;
  /** Deployments reconciled at the same time in this process; 8 when absent. */
  concurrency?: number;
  /**
   * No other process uses this database: leases of dead processes are freed at once, and their queues continue without
   * waiting for expiry.
   */
  alone?: boolean;
  /** Stops every pass at its next step, before the queue itself stops. */
  signal?: AbortSignal;
}

/** Starts reconciling until the queue stops, first what the last process left open. */
export async function startReconcileWorkers({
  queue,
  context,
  concurrency = 8,
  alone = false,
  signal,
}: ReconcileWorkers): Promise<void> {
  await queue.define(reconcileJob, { heartbeatSeconds: 20 });
  if (alone) await context.store.freeLeases();
  for (const deploymentId of await context.store.busyDeployments()) await context.store.wake(deploymentId);
  await queue.work<{ deploymentId: string }>(reconcileJob, { concurrency, pollSeconds: 1 }, (job) =>
    reconcileDeployment(job.data.deploymentId, context, signal ? AbortSignal.any([signal, job.signal]) : job.signal),
  );
}
