import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { DeploymentsList } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';

/** A deployment as the list returns it, which may have fewer fields than a read by id. */
export type ListedDeployment = DeploymentsList['resources'][number];

/** The deployments of the service, or that it offers no list. */
export type DeploymentListing = { kind: 'listed'; deployments: readonly ListedDeployment[] } | { kind: 'not-offered' };

/** Creates a shared reader (`createSharedReader`) of all deployments of the service. @throws ServiceError */
export function createDeploymentsReader(
  control: Pick<ControlService, 'listDeployments'>,
  clock: Pick<Clock, 'now'>,
  freshMs: number,
): (notBefore?: number) => Promise<DeploymentListing> {
  const read = createSharedReader(clock, freshMs, () => 'all', readAll);
  return (notBefore) => read(control, notBefore);
}

/** Reads all pages. */
export async function readAll(control: Pick<ControlService, 'listDeployments'>): Promise<DeploymentListing> {
  const listed = await tryCall(allEntriesOf((page) => control.listDeployments(page)));
  if (listed.ok) return { kind: 'listed', deployments: listed.value };
  if (isNotOffered(listed.error)) return { kind: 'not-offered' };
  throw listed.error;
}

/**
 * Creates a reader that shares a result among callers for `freshMs` after its start. Failed reads are not shared, nor
 * those that started before `notBefore` (ms since the epoch).
 */
export function createSharedReader<Subject, Value>(
  clock: Pick<Clock, 'now'>,
  freshMs: number,
  keyOf: (of: Subject) => number | string,
  read: (of: Subject) => Promise<Value>,
): (of: Subject, notBefore?: number) => Promise<Value> {
  const readings = new Map<number | string, { since: number; reading: Promise<Value> }>();
  const isFresh = ({ since }: { since: number }, now: number): boolean => now >= since && now - since < freshMs;
  return (of, notBefore = 0) => {
    const [key, now] = [keyOf(of), clock.now()];
    for (const [each, entry] of readings) if (!isFresh(entry, now)) readings.delete(each);
    const current = readings.get(key);
    if (current && current.since >= notBefore) return current.reading;
    const own = { since: now, reading: read(of) };
    readings.set(key, own);
    own.reading.catch(() => {
      if (readings.get(key) === own) readings.delete(key);
    });
    return own.reading;
  };
}
