import type { ControlService } from '../../src/contract/control/service.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import { findFormerLive } from '../../src/deploy/machine/roll-back.ts';
import { revisionToRestore } from '../../src/deploy/rules/rollback.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import type { NoRollbackTarget } from '../../src/deploy/commands/outcomes.ts';
import type { Coded } from '../../src/kit/coded.ts';
import type { IntentFields } from '../reconcile/intent.ts';

export type RollbackTarget =
  /** `serving`: the id of the revision that it would replace. */
  { ok: true; revision: Revision; serving: string } | ({ ok: false } & Coded<NoRollbackTarget>);

/** How many revisions are searched; older ones are no useful rollback targets. */
const maxSearchedRevisions = 1_000;

/**
 * Finds the revision that was live before the one that serves: as the intent that made that one recorded, else as the
 * service lists them.
 *
 * @param intents of the deployment, oldest first. `isOneOfThem`: what serves must have been made by one of them.
 */
export async function findRollbackTarget(
  deploymentId: string,
  intents: readonly IntentFields[],
  control: Pick<ControlService, 'getDeployment' | 'getRevision' | 'listRevisions'>,
  { isOneOfThem }: { isOneOfThem: boolean },
): Promise<RollbackTarget> {
  const { active_revision_id: active } = await control.getDeployment(deploymentId);
  if (!active) return { ok: false, code: 'nothing-live' };
  const serving = intents.findLast(({ revisionId }) => revisionId === active);
  if (!serving && isOneOfThem) return { ok: false, code: 'other-live', revisionId: active };
  const former = revisionToRestore(active, serving?.former?.live);
  if (former) return { ok: true, revision: await control.getRevision(deploymentId, former), serving: active };
  const previous = await tryCall(
    findFormerLive(active, (page) => control.listRevisions(deploymentId, page), maxSearchedRevisions),
  );
  if (previous.ok && previous.value) return { ok: true, revision: previous.value, serving: active };
  if (previous.ok) return { ok: false, code: 'none-live-before', revisionId: active };
  if (!isNotOffered(previous.error)) throw previous.error;
  return { ok: false, code: 'unlisted-revisions' };
}
