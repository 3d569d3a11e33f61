import type { OnUnproven } from '../file/desired.ts';
import type { HoldDecision, Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { isOfConversations } from './verdict-subject.ts';
import type { NamedVerdict, TestVerdict, UnprovenReason, Verdict } from './verdict-types.ts';

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

/** Whom a held revision would take the traffic from, and what is requested where nothing is proven of it. */
export interface HeldTerms {
  /** Another revision serves. */
  isReplacing: boolean;
  /** Absent: the live revision is kept. */
  onUnproven?: OnUnproven | undefined;
}

/**
 * What a verdict decides about a held revision. One that is not proven to answer does not take the place of one that
 * serves, unless that is requested; one that gave no answer never does.
 */
export function decisionOf(verdict: Verdict, { isReplacing, onUnproven = 'keep' }: HeldTerms): HoldDecision {
  if (verdict.kind === 'failed') return 'discarded';
  if (verdict.kind !== 'unproven' || !isReplacing) return 'promoted';
  return onUnproven === 'promote' && !isSilent(verdict.tests) ? 'promoted' : 'discarded';
}

/** Reasons that a test may have without a single answer of the agent. */
const withoutAnswer: ReadonlySet<UnprovenReason> = new Set([
  'unreachable',
  'hangs',
  'server-error',
  'provider',
  'missing',
  'undecided',
]);

/** Whether an agent gave no answer to any of its tests, or none to one that sent it a request. */
function isSilent(tests: readonly NamedVerdict[]): boolean {
  const own = tests.filter((each) => !isOfConversations(each));
  const silent = own.filter(({ verdict }) => !isAnswered(verdict));
  return silent.some(({ attempts }) => attempts > 0) || (silent.length > 0 && silent.length === own.length);
}

const isAnswered = (verdict: TestVerdict): boolean =>
  verdict.kind !== 'unproven' || !withoutAnswer.has(verdict.because) || hasAnswered(verdict);

/** Whether the new agent answered a request, also where the live one gave no answer to compare it with. */
function hasAnswered({ rate, comparison }: Extract<TestVerdict, { kind: 'unproven' }>): boolean {
  if (!comparison) return rate !== undefined && rate.answers > 0;
  return comparison.measures.some(({ measure, changed }) => measure === 'answered' && changed > 0);
}
