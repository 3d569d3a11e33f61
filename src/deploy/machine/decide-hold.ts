import type { CallOptions } from '../../contract/call-options.ts';
import type { HoldDecision } from '../../contract/control/revision.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';
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
 * Promotes or discards a held revision, and returns how far its hold is then. That may be something else than was
 * requested: another client decided, or the hold was over. A refusal by a 409 and a lost response are
 * resolved by reading it; repeating the decision is safe. @throws ServiceError if it is still unknown.
 */
export async function decideHold(deciding: HoldDeciding): Promise<HoldState> {
  const { deploymentId, revisionId, decision, why, control, options } = deciding;
  const request = { why: why.slice(0, maxWhyLength) };
  const decided = await tryCall(
    decision === 'promoted'
      ? control.promoteRevision(deploymentId, revisionId, request, options())
      : control.discardRevision(deploymentId, revisionId, request, options()),
  );
  if (decided.ok) return holdStateOf(decided.value);
  const { error } = decided;
  if (error.kind !== 'conflict' && !isTransient(error)) throw error;
  const hold = holdStateOf(await control.getRevision(deploymentId, revisionId, options()));
  if (isOpenHold(hold) && error.kind !== 'conflict') throw error;
  return hold;
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
  return decideHold(deciding);
}

/** The revisions of a deployment whose holds wait for a decision, newest first. @throws ServiceError */
export async function openHolds(
  deploymentId: string,
  control: Pick<ControlService, 'listRevisions'>,
): Promise<string[]> {
  const revisions = await allEntriesOf((page) => control.listRevisions(deploymentId, page));
  return revisions.filter((each) => isOpenHold(holdStateOf(each))).map(({ id }) => id);
}
