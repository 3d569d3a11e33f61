import type { AppContext } from '../context.ts';
import type { RecoveryInbox } from './missed-deliveries.ts';

/** Retention of finished and reported work (ms), and how many of a deployment's newest intents are kept regardless. */
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
 * Prunes old work, and ensures a job for each busy deployment queue and each report that was not sent to GitHub. An
 * extra job has no effect on either.
 *
 * @param enqueueReports ensures a job for each of these reports.
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
