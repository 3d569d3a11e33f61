import type { CallOptions } from '../../../contract/call-options.ts';
import type { Deployment } from '../../../contract/control/deployment.ts';
import type { Revision } from '../../../contract/control/revision.ts';
import type { ControlService } from '../../../contract/control/service.ts';
import { ifFound } from '../../../contract/service-error.ts';
import { phaseOf } from '../../rules/plan-rebuild.ts';
import type { RevisionSummary } from '../../rules/trigger-types.ts';
import { findMade, type FoundChange, newerThan, type SoughtChange } from '../../rules/find-made.ts';
import type { Rollout } from '../../rules/rollout-types.ts';

/** The service that is read, and the options of each call. */
export interface Reader {
  control: Pick<ControlService, 'getRevision' | 'listRevisions'>;
  options: () => CallOptions;
}

/** The revision that serves; the service may no longer return it. */
export interface LiveRevision {
  id: string;
  revision?: Revision | undefined;
}

/** Reads the newest revision of a deployment and the one that serves. @throws ServiceError */
export async function readRevisions(
  { id, active_revision_id: active, latest_revision_id: newest }: Deployment,
  by: Reader,
): Promise<{ live?: LiveRevision | undefined; latest?: Revision | undefined }> {
  const latest = newest ? await by.control.getRevision(id, newest, by.options()) : undefined;
  if (!active) return { latest };
  const revision = active === newest ? latest : await findRevision(id, active, by);
  return { live: { id: active, revision }, latest };
}

/** A revision; undefined if the service no longer returns it. @throws ServiceError */
export const findRevision = (
  deploymentId: string,
  id: string,
  { control, options }: { control: Pick<ControlService, 'getRevision'>; options: () => CallOptions },
): Promise<Revision | undefined> => ifFound(control.getRevision(deploymentId, id, options()));

/**
 * Looks for the effect of a request in a deployment, of which `former` was the newest revision before, and for the
 * revisions that are newer, newest first. `also` is another one that may be its effect. @throws ServiceError
 */
export async function findEffect(
  sought: SoughtChange,
  seen: { deployment: Deployment; former: string | null | undefined; also?: Revision | undefined },
  by: Reader,
): Promise<{ found: FoundChange; newer: readonly Revision[] }> {
  const { deployment, former = null, also } = seen;
  const newer = await readNewer(deployment, former, by);
  return { found: findMade(sought, { deployment, newer: also ? [...newer, also] : newer }), newer };
}

/**
 * The revisions that were made since `former` was the newest, newest first; where it is unknown how many are new, the
 * newest one alone. @throws ServiceError
 */
async function readNewer(
  { id, latest_revision_id: newest }: Deployment,
  former: string | null,
  { control, options }: Reader,
): Promise<readonly Revision[]> {
  if (!newest || newest === former) return [];
  const page = await ifFound(control.listRevisions(id, { limit: 50 }, options()));
  return (page && newerThan(former, page.resources)) ?? [await control.getRevision(id, newest, options())];
}

/** The commit that a revision reports. */
export const commitOf = (revision: Revision | undefined): string | undefined =>
  revision?.source_revision_config.repo_commit_sha ?? undefined;

/** A revision as deciding sees it. */
export const observedRevisionOf = (revision: Revision, active: string | null): RevisionSummary => ({
  id: revision.id,
  commit: commitOf(revision),
  phase: phaseOf(revision, active),
});

/** What took the place of a superseded revision, as far as it is known. */
interface Successor {
  id?: string | undefined;
  commit?: string | undefined;
  /** It is on its way, and does not report its commit yet. */
  mayReport: boolean;
}

/** Looks for what took the place of a superseded revision. @throws ServiceError */
export async function successorOf(
  deploymentId: string,
  { revisionId, by }: Extract<Rollout, { kind: 'superseded' }>,
  { control, options }: Reader & { control: Pick<ControlService, 'getDeployment'> },
): Promise<Successor> {
  const id = by ?? (await control.getDeployment(deploymentId, options())).latest_revision_id;
  if (!id || id === revisionId) return { mayReport: false };
  const revision = await findRevision(deploymentId, id, { control, options });
  const commit = commitOf(revision);
  return { id, commit, mayReport: !commit && !!revision && phaseOf(revision, null) === 'on-its-way' };
}
