import type { Queue } from '../../src/postgres/queue.ts';
import type { AppContext } from '../context.ts';
import { reconcileDeployment } from './reconcile-deployment.ts';
import { reconcileJob } from './postgres-queues.ts';

/** How the lanes are worked on. */
export interface ReconcileWorkers {
  queue: Pick<Queue, 'define' | 'work'>;
  context: AppContext;
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
