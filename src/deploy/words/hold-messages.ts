import { withoutFullStop } from '../../kit/plain-text.ts';
import { type HoldState, isOpenHold } from '../rules/hold-state.ts';
import type { HoldDecision } from '../../contract/control/hold.ts';
import { adviceIfIntended, firstTestOf, whatFailed } from './outcome-messages.ts';
import { adviceOnUnproven } from './unproven-advice.ts';
import { isOfConversations } from '../rules/verdict-subject.ts';
import type { Verdict } from '../rules/verdict-types.ts';

/** What is said about holds before traffic, wherever it is reported. */

/** The reason of a decision about a held revision, for the status and the log of the revision. */
export function reasonOfDecision(verdict: Verdict, decision: HoldDecision): string {
  if (verdict.kind === 'failed') return `It ${whatFailed(verdict)}: ${firstTestOf(verdict, 'failed')}.`;
  if (verdict.kind === 'unproven') {
    const then = decision === 'discarded' ? 'so the live revision is kept' : 'and it gets the traffic all the same';
    return `Its ${whatIsUnproven(verdict)} proved nothing, ${then}: ${firstTestOf(verdict, 'unproven')}.`;
  }
  if (verdict.kind === 'none') return 'There was nothing to test.';
  const passed = verdict.tests.every(isOfConversations) ? [] : ['smoke tests passed'];
  const goOn = verdict.tests.some(isOfConversations) ? ['conversations go on'] : [];
  return `Its ${[...passed, ...goOn].join(', and its ')}.`;
}

function whatIsUnproven({ tests }: Pick<Verdict, 'tests'>): string {
  const first = tests.find((test) => test.verdict.kind === 'unproven');
  return first && isOfConversations(first) ? 'conversations' : 'smoke tests';
}

/** Says that a revision gets no traffic without a decision; empty where it is not held. */
export function describeOpenHold(hold: HoldState | undefined): string {
  if (!hold || !isOpenHold(hold)) return '';
  const end = hold.kind === 'held' ? `at ${hold.endsAt}` : '30 minutes after it is healthy';
  return `, gets no traffic until it is promoted, and is discarded ${end}`;
}

/** A revision that was discarded, and what the entry point says in its own words. */
export interface Discard {
  revisionId: string | undefined;
  verdict: Verdict | undefined;
  /** What this entry point decided by the verdict. */
  decision: HoldDecision | undefined;
  statusMessage: string | undefined;
  /** A sentence. */
  serves: string;
  /** Who did not discard it, where no verdict explains it. */
  self: string;
  advice: { failed: string; unproven: string; otherwise: string };
}

/** The outcome of a revision that was discarded before it got traffic. */
export function outcomeOfDiscard(discard: Discard): { kind: 'discarded'; reason: string; advice: string } {
  const { revisionId, verdict, decision, statusMessage, serves, self, advice } = discard;
  if (verdict?.kind === 'failed') {
    const reason = `Revision ${revisionId} ${whatFailed(verdict)} before it got traffic, and was discarded: ${firstTestOf(verdict, 'failed')}. ${serves}`;
    return { kind: 'discarded', reason, advice: `${advice.failed}${adviceIfIntended(verdict)}` };
  }
  if (verdict?.kind === 'unproven' && decision === 'discarded') {
    const reason = `Revision ${revisionId} was discarded before it got traffic, because its ${whatIsUnproven(verdict)} proved nothing: ${firstTestOf(verdict, 'unproven')}. ${serves}`;
    return { kind: 'discarded', reason, advice: `${adviceOnUnproven(verdict)} ${advice.unproven}` };
  }
  const why = statusMessage ? `: ${withoutFullStop(statusMessage)}` : '';
  const reason = `Revision ${revisionId} was discarded before it got traffic, and not by ${self}${why}. ${serves}`;
  return { kind: 'discarded', reason, advice: advice.otherwise };
}
