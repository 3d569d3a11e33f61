import { asSentence, capitalized } from '../../src/kit/plain-text.ts';
import { shortCommit } from '../../src/deploy/rules/commit.ts';
import { describeOpenHold, outcomeOfDiscard } from '../../src/deploy/words/hold-messages.ts';
import { firstTestOf, outcomeOfRollout } from '../../src/deploy/words/outcome-messages.ts';
import type { Rollout } from '../../src/deploy/rules/rollout-types.ts';
import { decisionWords } from '../../src/deploy/words/decision.ts';
import type { Decision } from '../../src/deploy/rules/trigger-types.ts';
import { adviceOnUnproven } from '../../src/deploy/words/unproven-advice.ts';
import { decisionOf } from '../../src/deploy/rules/hold-state.ts';
import { isOfConversations } from '../../src/deploy/rules/verdict-subject.ts';
import type { Verdict } from '../../src/deploy/rules/verdict-types.ts';
import { counted } from '../../src/deploy/words/verdict-table/words.ts';
import { heldTermsOf, type Intent, type IntentOutcome } from './intent.ts';

/** How an intent ended, but for the time. */
export type NewIntentOutcome = Omit<IntentOutcome, 'at'>;

/** The intent, ended. */
export const withOutcome = (intent: Intent, end: NewIntentOutcome, at: number): Intent => ({
  ...intent,
  state: 'ended',
  end: { ...end, at },
});

/** The intent, ended by the decision that nothing is sent for it. */
export const withDecisionOutcome = (
  intent: Intent,
  kind: 'skipped' | 'joined',
  decision: Extract<Decision, { kind: 'skip' }>,
  at: number,
): Intent => {
  return withOutcome({ ...intent, decision }, { kind, reason: asSentence(capitalized(decisionWords(decision))) }, at);
};

export function supersededOutcome(intent: Intent, head: string, contains: boolean | undefined): NewIntentOutcome {
  const holds = contains ? ', which contains it' : '';
  return {
    kind: 'superseded',
    reason: `Commit ${shortCommit(intent.commit)} is not built: the head of ${intent.branch} is ${shortCommit(head)} by now${holds}.`,
    by: { commit: head, contains },
  };
}

export function otherCommitOutcome(
  { commit, branch, revisionId }: Intent,
  built: string,
  contains?: boolean,
): NewIntentOutcome {
  const which = revisionId ? `Revision ${revisionId}` : 'The newest revision';
  return {
    kind: 'other-commit',
    reason: `${which} was built from ${shortCommit(built)} and not from ${shortCommit(commit)}: ${branch} had moved on.`,
    by: { commit: built, contains },
  };
}

export const branchGone = ({ branch }: Intent): NewIntentOutcome => ({
  kind: 'skipped',
  reason: `The branch ${branch} is gone, so there is nothing to build.`,
});

export const unknownEffect = ({ sentAt, sends = 1 }: Intent, why: string): NewIntentOutcome => ({
  kind: 'unknown',
  reason: `A revision was requested from the service${sends > 1 ? ` ${sends} times` : ''}${sentAt ? ` at ${new Date(sentAt).toISOString()}` : ''}, and it is unknown whether that took effect: ${why}. It is not sent again.`,
  advice: 'Look at the newest revisions of the deployment; press Re-run to build this commit again.',
});

export const noRevision = (): NewIntentOutcome => ({
  kind: 'refused',
  reason: 'The service took the change and made no revision of it.',
  advice: 'Look at the deployment and its newest revision; press Re-run to request it again.',
});

const whatServes = ({ formerLiveRevisionId }: Intent): string =>
  formerLiveRevisionId ? `Revision ${formerLiveRevisionId} still serves.` : 'No other revision of ours served before.';

/** The outcome of a followed revision that did not go live. */
export function intentRolloutOutcome(
  intent: Intent,
  rollout: Exclude<Rollout, { kind: 'live' | 'in-progress' }>,
): NewIntentOutcome {
  const successor = rollout.kind === 'superseded' && rollout.by ? `revision ${rollout.by}` : 'a newer one';
  return outcomeOfRollout(rollout, {
    serves: whatServes(intent),
    waited: `${Math.round(intent.terms.timeoutMs / 60_000)} min`,
    lastSeen: rollout.kind === 'timed-out' ? `${rollout.lastStatus}${describeOpenHold(rollout.hold)}` : '',
    superseded: `Revision ${rollout.revisionId} did not stay: ${successor} took its place.`,
    advice: {
      failed: 'Read the log lines of this revision, correct what they name, and push.',
      interrupted: 'Press Re-run to build this commit again.',
      'timed-out': 'Look at the revision at the service; press Re-run to follow it or to build again.',
    },
  });
}

/** The outcome of a revision that was discarded before it got traffic: by its verdict, or by others. */
export const discardOutcome = (intent: Intent, statusMessage: string | undefined): NewIntentOutcome =>
  outcomeOfDiscard({
    revisionId: intent.revisionId,
    verdict: intent.verdict,
    decision: intent.verdict && decisionOf(intent.verdict, heldTermsOf(intent)),
    statusMessage,
    serves: whatServes(intent),
    self: 'this App',
    advice: {
      failed: 'Correct the agent and push.',
      unproven: 'Then press Re-run to build and test it again; `on-unproven: promote` would give it the traffic.',
      otherwise:
        'Press Re-run to build this commit again; tests that take longer than the hold need verify: after-traffic.',
    },
  });

export function verifiedOutcome(intent: Intent, { kind, tests }: Verdict): NewIntentOutcome {
  const { revisionId, commit, verified } = intent;
  const when = verified === 'before-traffic' ? ' before it got traffic' : '';
  const smoke = tests.filter((test) => !isOfConversations(test));
  const passed = smoke.length === 0 ? '' : ` and passed ${counted(smoke.length, 'smoke test')}${when}`;
  const goOn = smoke.length === tests.length ? '' : `, and conversations go on with it`;
  const proven = kind === 'passed' ? `${passed}${goOn}` : '';
  return { kind: 'deployed', reason: `Revision ${revisionId} of commit ${shortCommit(commit)} is live${proven}.` };
}

export function unverifiedOutcome({ revisionId, verified }: Intent, verdict: Verdict): NewIntentOutcome {
  const first = verdict.tests.find((test) => test.verdict.kind === 'unproven');
  const what =
    first && isOfConversations(first) ? 'conversations are not proven to go on with it' : 'is not proven to answer';
  const how = verified === 'before-traffic' ? 'was promoted' : 'is live';
  return {
    kind: 'unproven',
    reason: `Revision ${revisionId} ${how}, but ${what}: ${firstTestOf(verdict, 'unproven')}.`,
    advice: `${adviceOnUnproven(verdict)} Re-run builds and tests it again.`,
  };
}

/** No smoke test ran, because the file that defines them is invalid. */
export const untestedOutcome = ({ revisionId }: Intent): NewIntentOutcome => ({
  kind: 'unproven',
  reason: `Revision ${revisionId} is live, but was not tested: the deploy file could not be read.`,
  advice: 'Correct the deploy file on the default branch (the notes name its mistakes), and press Re-run.',
});

export const reasonOfWrongAnswer = ({ revisionId }: Intent, verdict: Verdict): string =>
  `Revision ${revisionId} failed its smoke tests: ${firstTestOf(verdict, 'failed')}`;
