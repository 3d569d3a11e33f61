import type { AppContext } from '../context.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { DeliveryClient } from '../github/deliveries.ts';
import type { Deliveries } from '../inbox/deliveries.ts';
import type { Binding } from '../settings/environment.ts';
import { deployedBranches } from './deployed-branches.ts';
import { requestRedeliveries } from './missed-deliveries.ts';
import { catchTransientError, recoverHeads, type HeadRecoveryResult } from './recover-heads.ts';

/** Lists the repositories of all installations of the App. */
export interface RepositoryClient {
  /**
   * Every repository of every active installation, one after the other within an installation. An installation that
   * cannot be read now is skipped and logged.
   */
  repositories(): AsyncIterable<InstallationRepository>;
}

/** Clients that recovery needs besides the context. */
export interface RecoveryClients {
  deliveries: DeliveryClient;
  inbox: Pick<Deliveries, 'neverReceived' | 'prune'>;
  repositories: RepositoryClient;
  /** Ensures that each of these reports has a job. */
  enqueueReports: (reportIds: readonly string[]) => Promise<void>;
  /** Deployments that the operator bound to other repositories than their own. */
  bound?: readonly Binding[];
}

/** The result of one run. A part that failed is absent. */
export interface RecoveryResult {
  /** When it started (ms since the epoch), from where the next run continues. Absent if deliveries were left over. */
  since?: number;
  requestedAgain?: number;
  heads?: HeadRecoveryResult;
  maintenance?: MaintenanceResult;
}

/**
 * Finds missed deliveries, heads that were never built, and open work without a job. A failure in one part does not
 * stop the others. @param since the start of the last run that left no delivery over (ms since the epoch).
 */
export async function recover(
  context: AppContext,
  clients: RecoveryClients,
  since: number | undefined,
  signal?: AbortSignal,
): Promise<RecoveryResult> {
  const startedAt = context.clock.now();
  const result: RecoveryResult = {};
  await runPart('Missed deliveries could not be requested', context, async () => {
    const { requested, remaining } = await requestRedeliveries(context, clients.deliveries, clients.inbox, since);
    result.requestedAgain = requested;
    if (remaining === 0) result.since = startedAt;
    else context.log.warn({ missing: remaining }, 'More deliveries are missing; the next run requests them');
  });
  await runPart('Old work could not be pruned', context, async () => {
    result.maintenance = await runMaintenance(context, clients.inbox, clients.enqueueReports);
  });
  await runPart('The heads of deployed branches could not be compared', context, async () => {
    const branchesOf = await deployedBranches(context.control, clients.bound);
    result.heads = await recoverHeads(context, clients.repositories.repositories(), branchesOf, signal);
  });
  context.log.info(
    {
      deliveriesRequestedAgain: result.requestedAgain,
      branches: result.heads?.branches,
      headsRecovered: result.heads?.recovered,
      installationsPaused: result.heads?.paused,
      removed: result.maintenance?.removed,
      queuesNotified: result.maintenance?.notified,
      tookMs: context.clock.now() - startedAt,
    },
    'Recovery is done',
  );
  return result;
}

/** Failures of other services wait for the next run; any other error is rethrown. */
async function runPart(failed: string, { log }: AppContext, act: () => Promise<void>): Promise<void> {
  const failure = await catchTransientError(act);
  if (failure !== undefined) log.warn(`${failed}: ${failure.message}`);
}

/** Retention of finished and reported work (ms), and how many of a deployment's newest intents are kept regardless. */
export const workRetentionMs = 14 * 24 * 60 * 60_000;
export const minKeptIntents = 50;

/** What maintenance removed and notified. */
interface MaintenanceResult {
  /** The number of deleted deliveries, intents and reports. */
  removed: number;
  notified: number;
  reportedAgain: number;
}

/**
 * Prunes old work, and ensures a job for each busy deployment queue and each report that was not sent to GitHub. An
 * extra job has no effect on either.
 */
export async function runMaintenance(
  { store, clock }: Pick<AppContext, 'store' | 'clock'>,
  inbox: Pick<Deliveries, 'prune'>,
  enqueueReports: RecoveryClients['enqueueReports'],
): Promise<MaintenanceResult> {
  const busy = await store.busyDeployments();
  for (const deploymentId of busy) await store.wake(deploymentId);
  const unreported = await store.pendingReports();
  await enqueueReports(unreported);
  const removed = (await inbox.prune()) + (await store.forget(clock.now() - workRetentionMs, minKeptIntents));
  return { removed, notified: busy.length, reportedAgain: unreported.length };
}
