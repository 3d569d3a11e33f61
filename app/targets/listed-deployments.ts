import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { DeploymentsList } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';

/** A deployment as the list returns it, which may have fewer fields than a read by id. */
export type ListedDeployment = DeploymentsList['resources'][number];

/** What the service deploys, or that it does not list that. */
export type DeploymentListing = { kind: 'listed'; deployments: readonly ListedDeployment[] } | { kind: 'not-offered' };

/** Reads all deployments of the service, as `sharedReading` does. @throws ServiceError */
export function createDeploymentsReader(
  control: Pick<ControlService, 'listDeployments'>,
  clock: Pick<Clock, 'now'>,
  freshMs: number,
): (notBefore?: number) => Promise<DeploymentListing> {
  const shared = sharedReading(clock, freshMs, () => 'all', readAll);
  return (notBefore) => shared(control, notBefore);
}

/** Reads all pages. */
export async function readAll(control: Pick<ControlService, 'listDeployments'>): Promise<DeploymentListing> {
  const listed = await tryCall(allEntriesOf((page) => control.listDeployments(page)));
  if (listed.ok) return { kind: 'listed', deployments: listed.value };
  if (isNotOffered(listed.error)) return { kind: 'not-offered' };
  throw listed.error;
}

/**
 * Shares one read among callers within `freshMs` of one another, and those who arrive while it runs; but not one that
 * failed, or that started before `notBefore` (ms since the epoch).
 */
export function sharedReading<Of, Value>(
  clock: Pick<Clock, 'now'>,
  freshMs: number,
  keyOf: (of: Of) => number | string,
  read: (of: Of) => Promise<Value>,
): (of: Of, notBefore?: number) => Promise<Value> {
  const shared = new Map<number | string, { since: number; reading: Promise<Value> }>();
  const isFresh = ({ since }: { since: number }, now: number): boolean => now >= since && now - since < freshMs;
  return (of, notBefore = 0) => {
    const [key, now] = [keyOf(of), clock.now()];
    for (const [each, kept] of shared) if (!isFresh(kept, now)) shared.delete(each);
    const known = shared.get(key);
    if (known && known.since >= notBefore) return known.reading;
    const mine = { since: now, reading: read(of) };
    shared.set(key, mine);
    mine.reading.catch(() => {
      if (shared.get(key) === mine) shared.delete(key);
    });
    return mine.reading;
  };
}
