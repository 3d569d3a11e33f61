import type { HoldState } from '../rules/hold-state.ts';
import { rolloutOutOfTime } from '../rules/rollout.ts';
import type { EndedRollout, Rollout } from '../rules/rollout-types.ts';

/** A revision that waits for a decision before it gets traffic. */
export type HeldRollout = Extract<Rollout, { kind: 'in-progress' }> & { hold: Extract<HoldState, { kind: 'held' }> };

/** The end of a revision that did not go live. */
export type NotLive = Exclude<EndedRollout, { kind: 'live' }>;

export const isHeld = (rollout: Rollout): rollout is HeldRollout =>
  rollout.kind === 'in-progress' && rollout.hold?.kind === 'held';

/**
 * What a look at a revision came to: its end, or that it is held, where it is followed until then; undefined: it is
 * looked at again. Pure. @param until.isOver the time for it is
 */
export function afterLook(
  rollout: Rollout,
  until: { untilHeld: boolean; isOver: boolean },
): EndedRollout | HeldRollout | undefined {
  if (rollout.kind !== 'in-progress') return rollout;
  if (until.untilHeld && isHeld(rollout)) return rollout;
  return until.isOver ? rolloutOutOfTime(rollout) : undefined;
}
