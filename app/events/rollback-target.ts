import { attempt } from '../../src/deploy/attempt.ts';
import { noneLiveBefore, nothingLive, revisionToRestore } from '../../src/planning/rollback.ts';
import { liveBefore } from '../../src/deploy/roll-back-failed.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import type { Intent } from '../reconcile/intent.ts';

/** The revision to restore, or why there is none: a clause without a full stop. */
export type RollbackTarget = { ok: true; revision: Revision } | { ok: false; why: string };

/**
 * Finds what a Rollback on a check restores: the revision that was live before the one the check reports, provided
 * that the latter is still live.
 *
 * @param intents those of the check's deployment and commit, oldest first.
 * @throws ServiceError
 */
export async function findRollbackTarget(
  intents: readonly Intent[],
  deploymentId: string,
  control: ControlService,
): Promise<RollbackTarget> {
  const { active_revision_id: active } = await control.getDeployment(deploymentId);
  if (!active) return no(nothingLive);
  const serving = intents.findLast(({ revisionId }) => revisionId === active);
  if (!serving) return no(`revision ${active} is live, and it is not the one that this check reports`);
  const former = revisionToRestore(active, serving.formerLiveRevisionId);
  if (former) return { ok: true, revision: await control.getRevision(deploymentId, former) };
  const before = await attempt(liveBefore(active, (page) => control.listRevisions(deploymentId, page), lookedThrough));
  if (before.ok && before.value) return { ok: true, revision: before.value };
  if (before.ok) return no(noneLiveBefore(active));
  if (!isNotOffered(before.error)) throw before.error;
  return no('this service does not list revisions, so the previously live one is unknown');
}

const no = (why: string): RollbackTarget => ({ ok: false, why });

/** How many revisions are searched; an older one is no useful rollback target. */
const lookedThrough = 1_000;
