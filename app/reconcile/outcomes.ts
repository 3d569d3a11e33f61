import { asSentence, capitalized } from '../../src/kit/plain-text.ts';
import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { decisionWords } from '../../src/deploy/words/decision.ts';
import type { Concluding, Ended, Following, Intent, IntentHeader, IntentOutcome, SkipDecision } from './intent.ts';
import type { NotLive } from '../../src/deploy/machine/after-look.ts';

/** How an intent ended, but for the time. */
export type NewIntentOutcome = Omit<IntentOutcome, 'at'>;

/** The intent, ended. */
export const withOutcome = (intent: Intent, end: NewIntentOutcome, at: number): Ended => ({
  ...intent,
  state: 'ended',
  end: { ...end, at },
});

/** The intent, ended by the decision that nothing is sent for it. */
export const withDecisionOutcome = (
  intent: Intent,
  kind: 'skipped' | 'joined',
  decision: SkipDecision,
  at: number,
): Ended =>
  withOutcome({ ...intent, decision }, { kind, reason: asSentence(capitalized(decisionWords(decision))) }, at);

export function supersededOutcome(intent: IntentHeader, head: string, contains: boolean | undefined): NewIntentOutcome {
  const holds = contains ? ', which contains it' : '';
  if (intent.sending.kind === 'promote')
    return {
      kind: 'superseded',
      reason: `Commit ${shortCommit(intent.commit)} is not promoted: ${intent.sending.from.name} has proven ${shortCommit(head)} since${holds}.`,
      by: { commit: head, contains },
    };
  return {
    kind: 'superseded',
    reason: `Commit ${shortCommit(intent.commit)} is not built: the head of ${intent.branch} is ${shortCommit(head)} by now${holds}.`,
    by: { commit: head, contains },
  };
}

export const branchGone = ({ branch }: IntentHeader): NewIntentOutcome => ({
  kind: 'skipped',
  reason: `The branch ${branch} is gone, so there is nothing to build.`,
});

export const otherCommitOutcome = (
  { commit, branch }: IntentHeader,
  revisionId: string | undefined,
  built: string,
  contains?: boolean,
): NewIntentOutcome => ({
  kind: 'other-commit',
  ...outcomes.otherCommit({ revisionId, built, commit, ref: branch }),
  by: { commit: built, contains },
});

export const unknownEffect = ({ sentAt, sends = 1 }: IntentHeader, why: string): NewIntentOutcome => {
  const times = [sends > 1 ? `sent ${sends} times` : '', sentAt ? `at ${new Date(sentAt).toISOString()}` : ''];
  const when = times.filter(Boolean).join(' ');
  const what = `the request for a revision${when && ` (${when})`}`;
  return { kind: 'unknown', ...outcomes.unknownEffect({ what, why }, 'app') };
};

/** The outcome of a followed revision that did not go live. */
export const intentRolloutOutcome = (
  { terms: { timeoutMs }, former: { live: former } }: Following,
  rollout: NotLive,
  byCommit?: string,
): NewIntentOutcome => outcomes.notLive({ rollout, former, timeoutMs, hold: rollout.hold, byCommit }, 'app');

/** The outcome of a revision that was discarded before it got traffic: by its verdict, or by others. */
export function discardOutcome(intent: Following, statusMessage: string | undefined): NewIntentOutcome {
  const { revisionId, verdict, former, terms } = intent;
  const { onUnproven } = terms;
  return outcomes.discarded({ revisionId, verdict, onUnproven, statusMessage, former: former.live }, 'app');
}

/** The outcome of a live revision, by its verdict. */
export function liveOutcome({ revisionId, commit, verified, verdict }: Concluding): NewIntentOutcome {
  const facts = { revisionId, commit, verdict, isPromoted: verified === 'before-traffic' };
  return verdict.kind === 'unproven' ? outcomes.unproven(facts, 'app') : outcomes.live(facts);
}

/** The outcome of a live revision that failed its tests. `isImpossible`: it was to be rolled back. */
export const wrongOutcome = ({ revisionId, verdict }: Concluding, isImpossible: boolean): NewIntentOutcome =>
  outcomes.wrong(
    { revisionId, verdict },
    'app',
    isImpossible ? { kind: 'not-undone', why: 'no revision is known that was live before.' } : undefined,
  );

/** No smoke test ran, because the file that defines them is invalid. */
export const untestedOutcome = ({ revisionId }: Concluding): NewIntentOutcome => ({
  kind: 'unproven',
  reason: `Revision ${revisionId} is live, but was not tested: the deploy file could not be read.`,
  advice: 'Correct the deploy file on the default branch (the notes name its mistakes), and press Re-run.',
});
