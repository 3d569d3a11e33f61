import { attempt } from '../../src/deploy/attempt.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Clock } from '../../src/clock.ts';
import type { DeploymentsList } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import { sharedReading } from './shared-reading.ts';

/** A deployment as the list returns it, which may have fewer fields than a read by id. */
export type ListedDeployment = DeploymentsList['resources'][number];

/** What the service deploys, or that it does not list that. */
export type Listed = { kind: 'listed'; deployments: readonly ListedDeployment[] } | { kind: 'not-offered' };

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

/** Reads all pages. */
export async function readAll(control: Pick<ControlService, 'listDeployments'>): Promise<Listed> {
  const listed = await attempt(allEntriesOf((page) => control.listDeployments(page)));
  if (listed.ok) return { kind: 'listed', deployments: listed.value };
  if (isNotOffered(listed.error)) return { kind: 'not-offered' };
  throw listed.error;
}
