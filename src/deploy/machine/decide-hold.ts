import type { CallOptions } from '../../contract/call-options.ts';
import type { HoldDecision, Revision } from '../../contract/control/revision.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { isTransient } from '../../contract/service-error.ts';
import { type HoldState, holdStateOf, isOpenHold } from '../rules/hold-state.ts';
import { tryCall } from '../smoke/try-call.ts';

/** A decision about a held revision. */
export interface HoldDeciding {
  deploymentId: string;
  revisionId: string;
  decision: HoldDecision;
  /** Why, without secrets. */
  why: string;
  control: Pick<ControlService, 'promoteRevision' | 'discardRevision' | 'getRevision'>;
  options: () => CallOptions;
}

/** The longest reason that a service takes. */
const maxWhyLength = 1_000;

/**
 * Promotes or discards a held revision, and returns the revision as it is then. It may say something else than was
 * requested (`holdStateOf`): another client decided, or the hold was over. A refusal by a 409 and a lost response are
 * resolved by reading it; repeating the decision is safe. @throws ServiceError if it is still unknown.
 */
export async function decideHold(deciding: HoldDeciding): Promise<Revision> {
  const { deploymentId, revisionId, decision, why, control, options } = deciding;
  const request = { why: why.slice(0, maxWhyLength) };
  const decided = await tryCall(
    decision === 'promoted'
      ? control.promoteRevision(deploymentId, revisionId, request, options())
      : control.discardRevision(deploymentId, revisionId, request, options()),
  );
  if (decided.ok) return decided.value;
  const { error } = decided;
  if (error.kind !== 'conflict' && !isTransient(error)) throw error;
  const revision = await control.getRevision(deploymentId, revisionId, options());
  if (isOpenHold(holdStateOf(revision)) && error.kind !== 'conflict') throw error;
  return revision;
}

/**
 * Decides about a held revision, which is read first: a decision that took effect is not sent again, also where another
 * client sent it. `before` is called before it is sent. Returns how far the hold is then. @throws ServiceError
 */
export async function settleHold(deciding: HoldDeciding, before: () => Promise<void> | void): Promise<HoldState> {
  const { deploymentId, revisionId, control, options } = deciding;
  const hold = holdStateOf(await control.getRevision(deploymentId, revisionId, options()));
  if (!isOpenHold(hold)) return hold;
  await before();
  return holdStateOf(await decideHold(deciding));
}
