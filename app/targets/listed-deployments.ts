import type { Clock } from '../../src/clock.ts';
import type { DeploymentsList } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import { sharedReading } from './shared-reading.ts';

/** A deployment as the list returns it, which may have fewer fields than a read by id. */
export type ListedDeployment = DeploymentsList['resources'][number];

/** What the service deploys, or that it does not list that. */
export type Listed = { kind: 'listed'; deployments: readonly ListedDeployment[] } | { kind: 'not-offered' };

const pageSize = 100;

/**
 * Reads the service's deployments, all pages of them; a reading is shared for `freshMs`.
 *
 * @returns reads; one that began before `notBefore` (ms since the epoch) is not shared, where that is given.
 * @throws ServiceError
 */
export function createDeploymentsReader(
  control: Pick<ControlService, 'listDeployments'>,
  clock: Pick<Clock, 'now'>,
  freshMs: number,
): (notBefore?: number) => Promise<Listed> {
  const shared = sharedReading(
    clock,
    freshMs,
    () => 'all',
    (from: typeof control) => readAll(from),
  );
  return (notBefore) => shared(control, notBefore);
}

/** A page without new entries is the last one: a service that ignores `offset` would never end. */
export async function readAll(control: Pick<ControlService, 'listDeployments'>): Promise<Listed> {
  const found = new Map<string, ListedDeployment>();
  for (let offset = 0; ; offset += pageSize) {
    const page = await pageAt(control, offset);
    if (page === undefined) return { kind: 'not-offered' };
    const before = found.size;
    for (const each of page.resources) found.set(each.id, each);
    if (page.resources.length < pageSize || found.size === before) {
      return { kind: 'listed', deployments: [...found.values()] };
    }
  }
}

async function pageAt(
  control: Pick<ControlService, 'listDeployments'>,
  offset: number,
): Promise<DeploymentsList | undefined> {
  try {
    return await control.listDeployments({ limit: pageSize, offset });
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}
