import type { HoldState } from '../../src/deploy/rules/hold-state.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { decideRollback } from '../../src/deploy/rules/rollback.ts';
import type { Bound, Concluding, Following } from './intent.ts';

// What follows from what a step saw. Pure.

/** The end of a revision that did not go live. */
export type NotLive = Exclude<Bound['rollout'], { kind: 'live' | 'in-progress' }>;

type AfterLook =
  /** The branch moved between the push and the build. */
  | { kind: 'other-commit'; commit: string }
  | { kind: 'live' | 'superseded' | 'look-again' }
  | { kind: 'test-held'; hold: Extract<HoldState, { kind: 'held' }> }
  | { kind: 'not-live'; rollout: NotLive };

/** After one look at the revision, which the intent has in its rollout. `isOver`: its time is. */
export function afterLook({ rollout, sending, commit, holdSeconds, verdict }: Following, isOver: boolean): AfterLook {
  const { builtCommit, hold } = rollout;
  if (sending.kind === 'restate' && builtCommit !== undefined && !sameCommit(builtCommit, commit))
    return { kind: 'other-commit', commit: builtCommit };
  if (rollout.kind === 'live' || rollout.kind === 'superseded') return { kind: rollout.kind };
  if (rollout.kind !== 'in-progress') return { kind: 'not-live', rollout };
  if (hold?.kind === 'held' && holdSeconds !== undefined && !verdict) return { kind: 'test-held', hold };
  return isOver ? { kind: 'not-live', rollout: { ...rollout, kind: 'timed-out' } } : { kind: 'look-again' };
}

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
  const isReplaced = active !== undefined && active !== revisionId && (isFailed || !verified);
  const isVerdictDue = active !== undefined && !verified;
  if (isReplaced) return { kind: 'replaced', isVerdictDue: false };
  if (!isFailed) return { kind: verdict.kind === 'none' && terms.unread ? 'untested' : 'live', isVerdictDue };
  const onFailure = sending.kind === 'restate' ? terms.onFailure : 'keep';
  const decision = decideRollback({ onFailure, revisionId, formerLive: former.live });
  return decision.kind === 'restore' && !isRestored
    ? { ...decision, isVerdictDue }
    : { kind: 'wrong', isImpossible: decision.kind === 'impossible' && cause.kind !== 'failure', isVerdictDue };
}
