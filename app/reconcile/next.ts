import { decideRollback } from '../../src/deploy/rules/rollback.ts';
import { deploysCommit } from './deploy-request.ts';
import type { Concluding } from './intent.ts';

// What follows from what a step saw. Pure.

/** `isVerdictDue`: the verdict is about the revision, and not reported yet. */
type AfterTests = { isVerdictDue: boolean } & (
  | { kind: 'restore'; revisionId: string }
  /** `isImpossible`: it was to be rolled back, and no former revision is known. */
  | { kind: 'wrong'; isImpossible: boolean }
  | { kind: 'live' | 'untested' | 'replaced' }
);

/** After the tests of a live revision. `active` is what serves now: undefined where that could not be read. */
export function afterTests(intent: Concluding, active: string | null | undefined, isRestored: boolean): AfterTests {
  const { verdict, verified, revisionId, former, sending, terms, cause } = intent;
  const isFailed = verdict.kind === 'failed';
  // A verdict that was found before traffic is true still; a rollback would take back what serves now.
  const isReplaced = active !== undefined && active !== revisionId && (isFailed || verified !== 'before-traffic');
  const isVerdictDue = active !== undefined && verified !== 'before-traffic';
  if (isReplaced) return { kind: 'replaced', isVerdictDue: false };
  if (!isFailed) return { kind: verdict.kind === 'none' && terms.unread ? 'untested' : 'live', isVerdictDue };
  const onFailure = deploysCommit(sending) ? terms.onFailure : 'keep';
  const decision = decideRollback({ onFailure, revisionId, formerLive: former.live });
  return decision.kind === 'restore' && !isRestored
    ? { ...decision, isVerdictDue }
    : { kind: 'wrong', isImpossible: decision.kind === 'impossible' && cause.kind !== 'failure', isVerdictDue };
}
