import type { Revision } from '../contract/control/revision.ts';
import { classOfRevisionStatus } from '../contract/control/revision-status.ts';

/** How far the hold of a revision is. */
export type HoldState =
  /** It was made without a hold, or the service knows none. */
  | { kind: 'none' }
  /** It is not healthy yet: it will be held. */
  | { kind: 'pending' }
  /** It answers at `address` and waits for a decision until `endsAt`. */
  | { kind: 'held'; address: string; endsAt: string }
  | { kind: 'promoted' }
  /** Discarded, or its hold ended by itself. */
  | { kind: 'discarded' }
  /** It ended without a decision: it failed, was interrupted, or a newer one took its place. */
  | { kind: 'ended' };

/** Whether a hold still waits for a decision. */
export const isOpenHold = ({ kind }: Pick<HoldState, 'kind'>): boolean => kind === 'pending' || kind === 'held';

/** What a revision says about its hold. */
export function holdStateOf({ status, hold }: Pick<Revision, 'status' | 'hold'>): HoldState {
  if (!hold) return { kind: 'none' };
  if (hold.decision !== null) return { kind: hold.decision };
  const known = classOfRevisionStatus(status);
  if (known !== 'in-progress' && known !== 'unknown') return { kind: 'ended' };
  return hold.ends_at === null ? { kind: 'pending' } : { kind: 'held', address: hold.address, endsAt: hold.ends_at };
}
