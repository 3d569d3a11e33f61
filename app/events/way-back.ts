import type { ControlService } from '../../src/contract/control/service.ts';
import { classOfRevisionStatus, type Revision } from '../../src/contract/control/revision.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import type { Intent } from '../reconcile/intent.ts';

/** The revision to go back to, or why there is none: a clause without a full stop. */
export type WayBack = { ok: true; revision: Revision } | { ok: false; why: string };

/**
 * Where Rollback on a check leads: to what was live before the revision that the check speaks of, as long as that is
 * still the one that serves.
 *
 * @param intents those of the check's deployment and commit, oldest first.
 * @throws ServiceError
 */
export async function wayBack(
  intents: readonly Intent[],
  deploymentId: string,
  control: ControlService,
): Promise<WayBack> {
  const { active_revision_id: active } = await control.getDeployment(deploymentId);
  if (!active) return no('nothing is live, so there is nothing to go back from');
  const serving = intents.findLast(({ revisionId }) => revisionId === active);
  if (!serving) return no(`revision ${active} serves, and it is not the one that this check speaks of`);
  const former = serving.formerLiveRevisionId;
  if (former && former !== active) return { ok: true, revision: await control.getRevision(deploymentId, former) };
  return liveBefore(active, deploymentId, control);
}

const no = (why: string): WayBack => ({ ok: false, why });

const pageSize = 100;

/** How many revisions are looked through: one that lies further back is nobody's way back. */
const lookedThrough = 1_000;

/** Revisions are listed newest first; one that was live keeps its status when another takes its place. */
async function liveBefore(active: string, deploymentId: string, control: ControlService): Promise<WayBack> {
  let isPast = false;
  for (let offset = 0; offset < lookedThrough; offset += pageSize) {
    const page = await listed(deploymentId, offset, control);
    if (page === undefined) return no('this service does not list revisions, so nobody can tell what was live before');
    for (const revision of page) {
      if (isPast && classOfRevisionStatus(revision.status) === 'live') return { ok: true, revision };
      isPast ||= revision.id === active;
    }
    if (page.length < pageSize) break;
  }
  return no(`no revision was live before ${active}`);
}

async function listed(deploymentId: string, offset: number, control: ControlService): Promise<Revision[] | undefined> {
  try {
    return (await control.listRevisions(deploymentId, { limit: pageSize, offset })).resources;
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}
