import type { UnprovenReason, Verdict } from '../rules/verdict-types.ts';

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
  disagreement: 'Look at what makes the answers differ, or expect of the test what holds of each of them.',
  undecided: 'Allow the test more answers, or write a larger `drop`; look at what makes the answers differ.',
  unjudged: 'Expect less of the test: fewer values, simpler patterns and paths, or a shorter response.',
  ungraded:
    'Check the `grader` of the test and its key; a judge that disagrees with itself needs a clearer criterion, or only advises without `decides`.',
  'no-address': 'Give agent-url, the address at which the agent answers, to the Action or the command line.',
  replaced: 'Run the tests again: they ask the revision that serves.',
  'nothing-live': 'Deploy it first, and look at the revisions of the deployment.',
};

/** What to do about all that is unproven, each reason once. */
export function adviceOnUnproven({ tests }: Pick<Verdict, 'tests'>): string {
  const because = new Set(tests.flatMap(({ verdict }) => (verdict.kind === 'unproven' ? [verdict.because] : [])));
  return [...because].map((each) => adviceBy[each]).join(' ');
}
