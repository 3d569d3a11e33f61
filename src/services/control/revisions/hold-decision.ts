import { maxHoldSeconds, type HoldDecision } from '../../../contract/control/revision.ts';
import type { RevisionRecord } from '../store/tables.ts';
import { accepted, againstRules, type Refusal, type ValidationResult } from '../validation/refusal.ts';
import { hasEnded } from './states.ts';

type HeldRevision = Pick<RevisionRecord, 'status' | 'hold_seconds' | 'hold_ends_at' | 'hold_decision'>;

/** The next step of a rollout whose revision is held: `wait` for at most `ms`, or go on. */
export type HoldStep = { kind: 'wait'; ms: number } | { kind: 'promoted' } | { kind: 'over' } | { kind: 'ended' };

/** Decides the next step for a held revision; pass undefined where it was removed. */
export function nextHoldStep(revision: HeldRevision | undefined, now: number): HoldStep {
  if (revision?.status !== 'DEPLOYING' || revision.hold_decision === 'discarded') return { kind: 'ended' };
  if (revision.hold_decision === 'promoted') return { kind: 'promoted' };
  const ms = (revision.hold_ends_at?.getTime() ?? now) - now;
  return ms > 0 ? { kind: 'wait', ms } : { kind: 'over' };
}

/** Checks a caller's decision about a revision: whether to record it, or it is recorded already, or refused. */
export function judgeHoldDecision(
  { status, hold_seconds, hold_ends_at, hold_decision }: HeldRevision,
  wanted: HoldDecision,
): 'record' | 'repeated' | { refused: Refusal } {
  const refused = (detail: string) => ({ refused: { status: 409, detail } as const });
  if (hold_decision === wanted) return 'repeated';
  if (hold_seconds === null)
    return refused('This revision was made without a hold. Make one with Landfall-Hold first.');
  if (hold_decision !== null)
    return refused(`This revision was ${hold_decision} already. Make a new revision to decide again.`);
  if (hasEnded(status)) return refused(`This revision has ended ${status}. Make a new revision with Landfall-Hold.`);
  if (hold_ends_at === null)
    return refused('This revision is not held yet. Wait until its hold has an end, or interrupt the revision.');
  return 'record';
}

interface HoldFacts {
  /** Whether the service runs builds so that it can hold them. */
  holds: boolean;
  listener: boolean;
  image: boolean;
}

/** The seconds of a requested hold, or why it is refused; undefined where none is requested. */
export function checkHold(seconds: number | undefined, facts: HoldFacts): ValidationResult<number | undefined> {
  if (seconds === undefined) return accepted(undefined);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxHoldSeconds)
    return againstRules([
      `Landfall-Hold is no whole number from 1 to ${maxHoldSeconds}. Send the seconds of the hold.`,
    ]);
  const advice = 'Send the change without Landfall-Hold: its revision is then live at once.';
  if (facts.listener) return againstRules(['A revision in the cluster of a listener can not be held.', advice]);
  if (facts.image) return againstRules(['A revision of an image can not be held.', advice]);
  if (!facts.holds)
    return againstRules(['This service can not hold revisions, because it runs them in containers.', advice]);
  return accepted(seconds);
}

/** The reason for discarding a revision whose hold has expired. */
export const holdExpiredMessage = (seconds: number | null): string =>
  `It was held for ${seconds ?? 0} s and not promoted, so it was discarded. Redeploy it, and promote it in time.`;

/** The `status_message` of a revision that was discarded. */
export const discardedMessage = (reason: string | null): string =>
  `It was discarded before it got traffic${reason ? `: ${reason}` : '.'}`;
