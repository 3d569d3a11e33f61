import { withoutFullStop } from '../../kit/plain-text.ts';
import { formatDecision } from '../../kit/statistics/sequential-test.ts';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { Measure } from '../file/smoke-test.ts';
import { type HoldState, isOpenHold } from '../rules/hold-state.ts';
import { isOfConversations } from '../rules/verdict-subject.ts';
import type { NamedVerdict, TestVerdict, UnprovenReason, Verdict } from '../rules/verdict-types.ts';
import { measureName } from './verdict-table/measures.ts';

// What verdicts say of a revision, wherever it is reported.

/** The first test that ended so, in one clause. */
export function firstTestOf({ tests }: Verdict, kind: 'failed' | 'unproven'): string {
  const found = tests.filter((each) => each.verdict.kind === kind);
  const [first] = found;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  if (!first) return 'no reason given';
  return `${isOfConversations(first) ? '' : `${first.name}: `}${clauseOf(first)}${more}`;
}

/** What a failed verdict says of its revision: conversations are only tried where the smoke tests did not fail. */
export function whatFailed({ tests }: Pick<Verdict, 'tests'>): string {
  const first = tests.find(({ verdict }) => verdict.kind === 'failed');
  return first && isOfConversations(first) ? 'broke copies of conversations' : 'failed its smoke tests';
}

/** What to change where the failure is intended, as a sentence after others; empty where the agent has to be corrected. */
export function adviceIfIntended({ tests }: Pick<Verdict, 'tests'>): string {
  const failed = tests.filter(({ verdict }) => verdict.kind === 'failed');
  const measures = [...new Set(failed.flatMap(({ verdict }) => otherThanWrong(verdict)))];
  if (failed.some(isOfConversations))
    return ' If these conversations may break, leave `conversations` out of the deploy file.';
  if (measures.length === 0) return '';
  const named = measures.map((measure) => {
    const name = measureName(measure);
    return name === measure ? `\`${measure}\`` : `${name} (\`${measure}\`)`;
  });
  const them = measures.length === 1 ? 'it' : 'them';
  return ` If ${named.join(', ')} may change so, write a \`decide-by\` without ${them} into the smoke test, or \`pass-rate: baseline\` instead of \`against: live\`.`;
}

/** The measures by which a revision failed; none where its answers were wrong as well. */
function otherThanWrong(verdict: TestVerdict): Measure[] {
  if (verdict.kind === 'unproven') return [];
  const worse = verdict.held.flatMap(({ held, expectation }) =>
    !held && expectation.kind === 'no-worse' ? [expectation.measure] : [],
  );
  return worse.includes('pass-rate') ? [] : worse;
}

function clauseOf({ verdict }: NamedVerdict): string {
  if (verdict.kind === 'unproven') return withoutFullStop(verdict.why);
  const missed = verdict.held.find(({ held, advises }) => !held && !advises);
  if (verdict.rate)
    return `${formatDecision(verdict.kind, verdict.rate)}${missed ? `: ${missed.expected}, but for example it was ${missed.seen}` : ''}`;
  if (missed?.expectation.kind === 'goes-on') return missed.seen;
  return missed ? `${missed.expected} was expected, ${missed.seen} was seen` : 'nothing was expected';
}

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

/** Why a held revision is discarded untested. */
export const reasonOfOtherCommit = 'It was built from another commit than the one that was requested.';

/** What of a revision is not proven. */
export function whatIsUnproven({ tests }: Pick<Verdict, 'tests'>): string {
  const first = tests.find((test) => test.verdict.kind === 'unproven');
  return first && isOfConversations(first) ? 'conversations' : 'smoke tests';
}

/** Says that a revision gets no traffic without a decision; empty where it is not held. */
export function describeOpenHold(hold: HoldState | undefined): string {
  if (!hold || !isOpenHold(hold)) return '';
  const end = hold.kind === 'held' ? `at ${hold.endsAt}` : '30 minutes after it is healthy';
  return `, gets no traffic until it is promoted, and is discarded ${end}`;
}

/** What to do about a test that proves nothing, by the reason: the same for the Action, the command line and the App. */
const adviceBy: Record<UnprovenReason, string> = {
  unreachable: 'Check that the agent can be reached with this key; for a cold start raise the `attempts` of the test.',
  hangs:
    "Look at what the node waits for: a call without a time limit, a lock, a service that can't be reached. If the agent takes this long, raise the `timeout` of the test.",
  'server-error': "Read the agent's log: its server answers HTTP 500.",
  provider:
    "Look at the limits, the quota and the status of the model's provider, and test again; fewer `tries-at-once` send fewer requests at the same time.",
  missing: "Read the agent's log from the time of the tests: too many requests brought no answer.",
  denied:
    "The agent's own rules of access (`auth` in its graph configuration) refuse the caller, and smoke tests can't show a token of the agent's; where it has no rules, check the key.",
  disagreement: 'Find out why the answers differ, or let the test expect only what they have in common.',
  undecided: 'Allow the test more answers or a larger `drop`, or find out why the answers differ.',
  unjudged: 'Simplify the test: fewer values, simpler patterns and paths, or a shorter response.',
  ungraded:
    'Check the `grader` of the test and its key; a judge that disagrees with itself needs a clearer criterion, or only advises without `decides`.',
  'no-address': 'Give agent-url, the address at which the agent answers, to the Action or the command line.',
  replaced: 'Run the tests again: they are sent to the revision that serves.',
  'nothing-live': 'Deploy it first, and look at the revisions of the deployment.',
};

/** What to do about all that is unproven, each reason once. */
export function adviceOnUnproven({ tests }: Pick<Verdict, 'tests'>): string {
  const because = new Set(tests.flatMap(({ verdict }) => (verdict.kind === 'unproven' ? [verdict.because] : [])));
  return [...because].map((each) => adviceBy[each]).join(' ');
}
