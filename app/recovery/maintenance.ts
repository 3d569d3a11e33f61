import type { AppContext } from '../context.ts';
import type { RecoveryInbox } from './missed-deliveries.ts';

/** How long what ended or was told is kept (ms), and how many of a deployment's newest intents stay whatever their age. */
export const workKeptForMs = 14 * 24 * 60 * 60_000;
export const intentsKept = 50;

/** What was cleared away and set going again. */
export interface MaintenanceResult {
  /** Deliveries, intents and reports that went by their age. */
  removed: number;
  notified: number;
  reportedAgain: number;
}

/**
 * Removes what is old, and sees to it that whatever is open has a job: the lane of each busy deployment, and each report
 * that GitHub was not told. Both bear one job too many.
 *
 * @param tellReports sees to it that each of these reports has a job.
 */
export async function runMaintenance(
  { store, clock }: Pick<AppContext, 'store' | 'clock'>,
  inbox: Pick<RecoveryInbox, 'forget'>,
  enqueueReports: (reportIds: readonly string[]) => Promise<void>,
): Promise<MaintenanceResult> {
  const busy = await store.busyDeployments();
  for (const deploymentId of busy) await store.wake(deploymentId);
  const unreported = await store.pendingReports();
  await enqueueReports(unreported);
  const removed = (await inbox.forget()) + (await store.forget(clock.now() - workKeptForMs, intentsKept));
  return { removed, notified: busy.length, reportedAgain: unreported.length };
}
