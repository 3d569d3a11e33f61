import type { AppContext } from '../context.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { DeliveryClient } from '../github/deliveries.ts';
import type { Deliveries } from '../inbox/deliveries.ts';
import type { Binding } from '../settings/environment.ts';
import { deployedBranches } from './deployed-branches.ts';
import { requestRedeliveries } from './missed-deliveries.ts';
import { attempted, recoverHeads, type HeadRecoveryResult } from './recover-heads.ts';

/** All that installations of the App reach. */
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
  inbox: Pick<Deliveries, 'notHeld' | 'forget'>;
  repositories: RepositoryClient;
  /** Sees to it that each of these reports has a job. */
  enqueueReports: (reportIds: readonly string[]) => Promise<void>;
  /** Deployments that the operator bound to other repositories than their own. */
  bound?: readonly Binding[];
}

/** What one run did. A part that failed is absent. */
export interface RecoveryResult {
  /** When it started (ms since the epoch): the next run looks back to here. Absent if deliveries were left over. */
  since?: number;
  requestedAgain?: number;
  heads?: HeadRecoveryResult;
  maintenance?: MaintenanceResult;
}

/**
 * Finds missed deliveries, heads that were never built, and open work without a job. A failure in one part does not
 * stop the others. `since`: when the last run began that left no delivery over (ms since the epoch).
 */
export async function recover(
  context: AppContext,
  clients: RecoveryClients,
  since: number | undefined,
  signal?: AbortSignal,
): Promise<RecoveryResult> {
  const began = context.clock.now();
  const done: RecoveryResult = {};
  await part('Missed deliveries could not be requested', context, async () => {
    const { requested, left } = await requestRedeliveries(context, clients.deliveries, clients.inbox, since);
    done.requestedAgain = requested;
    if (left === 0) done.since = began;
    else context.log.warn({ missing: left }, 'More deliveries are missing; the next run requests them');
  });
  await part('Old work could not be pruned', context, async () => {
    done.maintenance = await runMaintenance(context, clients.inbox, clients.enqueueReports);
  });
  await part('The heads of deployed branches could not be compared', context, async () => {
    const branchesOf = await deployedBranches(context.control, clients.bound);
    done.heads = await recoverHeads(context, clients.repositories.repositories(), branchesOf, signal);
  });
  context.log.info(
    {
      deliveriesRequestedAgain: done.requestedAgain,
      branches: done.heads?.branches,
      headsRecovered: done.heads?.recovered,
      installationsPaused: done.heads?.paused,
      removed: done.maintenance?.removed,
      queuesNotified: done.maintenance?.notified,
      tookMs: context.clock.now() - began,
    },
    'Recovery is done',
  );
  return done;
}

/** Failures of other services wait for the next run; any other error is rethrown. */
async function part(failed: string, { log }: AppContext, act: () => Promise<void>): Promise<void> {
  const failure = await attempted(act);
  if (failure !== undefined) log.warn(`${failed}: ${failure.message}`);
}

/** Retention of finished and reported work (ms), and how many of a deployment's newest intents are kept regardless. */
export const workKeptForMs = 14 * 24 * 60 * 60_000;
export const intentsKept = 50;

/** What maintenance removed and notified. */
interface MaintenanceResult {
  /** Deliveries, intents and reports that went by their age. */
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
  inbox: Pick<Deliveries, 'forget'>,
  enqueueReports: RecoveryClients['enqueueReports'],
): Promise<MaintenanceResult> {
  const busy = await store.busyDeployments();
  for (const deploymentId of busy) await store.wake(deploymentId);
  const unreported = await store.pendingReports();
  await enqueueReports(unreported);
  const removed = (await inbox.forget()) + (await store.forget(clock.now() - workKeptForMs, intentsKept));
  return { removed, notified: busy.length, reportedAgain: unreported.length };
}
