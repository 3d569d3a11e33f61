import { ServiceError } from '../../src/contract/service-error.ts';
import { HubError, InstallationPaused } from '../github/hub.ts';
import type { RepositoryAt } from '../repository.ts';
import type { World } from '../world.ts';
import type { DeliveryDesk } from './delivery-desk.ts';
import { deployedBranches, type BoundDeployment } from './deployed-branches.ts';
import { keepHouse } from './keep-house.ts';
import { askForMissed, type InboxDesk } from './missed-deliveries.ts';
import { recoverHeads } from './recover-heads.ts';

/** All that installations of the App reach. */
export interface RepositoryDesk {
  /**
   * Every repository of every installation that is not suspended, those of one installation after each other. An
   * installation that cannot be asked now is left out, with a word in the log.
   */
  repositories(): AsyncIterable<RepositoryAt>;
}

/** What recovery needs besides the world. */
export interface RecoveryDesks {
  deliveries: DeliveryDesk;
  inbox: InboxDesk;
  repositories: RepositoryDesk;
  /** Sees to it that each of these reports has a job. */
  tellReports: (reportIds: readonly string[]) => Promise<void>;
  /** Deployments that the operator bound to other repositories than their own. */
  bound?: readonly BoundDeployment[];
}

/** What one run did. A part that failed is absent. */
export interface Recovered {
  /** When it began (ms since the epoch): the next run looks back to here. Absent where deliveries were left over. */
  since?: number;
  askedAgain?: number;
  heads?: { branches: number; recovered: number; failed: number; paused: number };
  house?: { removed: number; woken: number; toldAgain: number };
}

/**
 * Finds what was missed: deliveries that never came, heads that nobody built, work that nobody does. Three parts, none
 * of which keeps the others from their work by failing.
 *
 * @param since when the last run began that left no delivery over (ms since the epoch); absent at the first.
 */
export async function recover(
  world: World,
  desks: RecoveryDesks,
  since: number | undefined,
  signal?: AbortSignal,
): Promise<Recovered> {
  const began = world.clock.now();
  const done: Recovered = {};
  await part('Deliveries that never came could not be asked for', world, async () => {
    const { asked, left } = await askForMissed(world, desks.deliveries, desks.inbox, since);
    done.askedAgain = asked;
    if (left === 0) done.since = began;
    else world.log('More deliveries are missing; the next run asks for them', { missing: left });
  });
  await part('What is old could not be cleared away', world, async () => {
    done.house = await keepHouse(world, desks.inbox, desks.tellReports);
  });
  await part('The heads of deployed branches could not be compared', world, async () => {
    const branchesOf = await deployedBranches(world.control, desks.bound);
    done.heads = await recoverHeads(world, desks.repositories.repositories(), branchesOf, signal);
  });
  world.log('Recovery is done', {
    deliveriesAskedAgain: done.askedAgain,
    branches: done.heads?.branches,
    headsRecovered: done.heads?.recovered,
    installationsPaused: done.heads?.paused,
    removed: done.house?.removed,
    lanesWoken: done.house?.woken,
    tookMs: world.clock.now() - began,
  });
  return done;
}

/** What the other parties fail at waits for the next run; what is wrong here goes on to whoever runs the job. */
async function part(failed: string, { log }: World, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const isTheirs = error instanceof HubError || error instanceof InstallationPaused || error instanceof ServiceError;
    if (!isTheirs) throw error;
    log(`${failed}: ${error.message}`);
  }
}
