import { expect, test } from 'vitest';
import {
  branchGone,
  otherCommitOutcome,
  intentRolloutOutcome,
  withOutcome,
  withDecisionOutcome,
  supersededOutcome,
  unknownEffect,
  untestedOutcome,
  liveOutcome,
  type NewIntentOutcome,
} from '../../../app/reconcile/outcomes.ts';
import type { Rollout } from '../../../src/deploy/rules/rollout-types.ts';
import type { TestVerdict, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { anIntent } from '../an-intent.ts';
import { commitOf, start } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const intent = anIntent('requested', { commit: a });
const sent = anIntent('sending', { commit: a, sentAt: start, sends: 2 });
const following = anIntent('following', { commit: a, former: { live: 'r1' } });
const first = anIntent('following', { commit: a, former: { live: null } });
const live = (verdict: Verdict, verified?: 'before-traffic') =>
  liveOutcome(anIntent('concluding', { commit: a, verdict, ...(verified ? { verified } : {}) }));

const rollout = { revisionId: 'r2', seen: [] };
const failed: Rollout = { kind: 'failed', status: 'BUILD_FAILED', statusMessage: 'npm said no', ...rollout };

const passed: TestVerdict = { kind: 'passed', held: [], firstEventMs: 5, totalMs: 9 };
const away: TestVerdict = { kind: 'unproven', because: 'unreachable', why: 'no answer.' };
const all = (kind: Verdict['kind'], ...verdicts: TestVerdict[]): Verdict => ({
  kind,
  tests: verdicts.map((verdict, index) => ({ name: `t${index + 1}`, attempts: 1, verdict })),
});

const conversations = (verdict: TestVerdict): Verdict => ({
  kind: verdict.kind,
  tests: [{ name: 'conversations', attempts: 2, verdict }],
});

const ends: Record<string, NewIntentOutcome> = {
  'a head that contains it': supersededOutcome(intent, b, true),
  'another head': supersededOutcome(intent, b, undefined),
  'built from another commit': otherCommitOutcome(intent, 'r2', b, true),
  'built from another commit by the service': otherCommitOutcome(intent, undefined, b),
  'a branch that is gone': branchGone(intent),
  'an unknown effect': unknownEffect(intent, 'it says nothing'),
  'an unknown effect of several requests': unknownEffect(sent, 'it says nothing'),
  'a failure': intentRolloutOutcome(following, failed),
  'an interruption without a former revision': intentRolloutOutcome(first, {
    kind: 'interrupted',
    ...rollout,
  }),
  'replaced by one of a known commit': intentRolloutOutcome(following, { kind: 'superseded', by: 'r3', ...rollout }, b),
  'replaced by an unknown one': intentRolloutOutcome(following, { kind: 'superseded', ...rollout }),
  'a revision that is late': intentRolloutOutcome(following, { kind: 'timed-out', ...rollout }),
  'live without smoke tests': live(all('none')),
  'live with smoke tests that passed': live(all('passed', passed, passed)),
  'live with conversations that go on': live(conversations(passed), 'before-traffic'),
  'conversations that prove nothing': live(conversations(away)),
  'smoke tests that prove nothing': live(all('unproven', passed, away, away)),
  'a deploy file that could not be read': untestedOutcome(anIntent('concluding')),
};

test('the outcomes of the App have their kind and what they are about', () => {
  const facts = Object.entries(ends).map(
    ([what, { kind, by }]) => `${what}: ${kind}${by ? ` ${JSON.stringify(by)}` : ''}`,
  );
  expect(facts).toMatchInlineSnapshot(`
    [
      "a head that contains it: superseded {"commit":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","contains":true}",
      "another head: superseded {"commit":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}",
      "built from another commit: other-commit {"commit":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","contains":true}",
      "built from another commit by the service: other-commit {"commit":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}",
      "a branch that is gone: skipped",
      "an unknown effect: unknown",
      "an unknown effect of several requests: unknown",
      "a failure: failed",
      "an interruption without a former revision: interrupted",
      "replaced by one of a known commit: superseded",
      "replaced by an unknown one: superseded",
      "a revision that is late: timed-out",
      "live without smoke tests: deployed",
      "live with smoke tests that passed: deployed",
      "live with conversations that go on: deployed",
      "conversations that prove nothing: unproven",
      "smoke tests that prove nothing: unproven",
      "a deploy file that could not be read: unproven",
    ]
  `);
});

test('the outcomes of the App in words', () => {
  const words = Object.values(ends).map(({ reason, advice }) => (advice ? `${reason} -> ${advice}` : reason));
  expect(words).toMatchInlineSnapshot(`
    [
      "Commit aaaaaaa is not built: the head of main is bbbbbbb by now, which contains it.",
      "Commit aaaaaaa is not built: the head of main is bbbbbbb by now.",
      "Revision r2 was built from commit bbbbbbb, not from aaaaaaa: main had moved on.",
      "The newest revision was built from commit bbbbbbb, not from aaaaaaa: main had moved on.",
      "The branch main is gone, so there is nothing to build.",
      "It is unknown whether the request for a revision took effect: it says nothing. -> Look at the newest revisions of the deployment before you press Re-run.",
      "It is unknown whether the request for a revision (sent 2 times at 2026-11-21T08:00:00.000Z) took effect: it says nothing. -> Look at the newest revisions of the deployment before you press Re-run.",
      "Revision r2 ended BUILD_FAILED: npm said no. Revision r1 still serves. -> Read the log lines of this revision, correct what they name, and push.",
      "Revision r2 was interrupted at the service. Nothing is live yet. -> Press Re-run to build it again.",
      "Revision r2 did not become live: revision r3 of commit bbbbbbb took its place.",
      "Revision r2 did not become live: a newer one took its place.",
      "Revision r2 was not live within 30 min: last seen nowhere, and it goes on. -> Press Re-run: the revision is followed, not made twice.",
      "Revision r2 of commit aaaaaaa is live.",
      "Revision r2 of commit aaaaaaa is live and passed 2 smoke tests.",
      "Revision r2 of commit aaaaaaa is live, and conversations go on with it.",
      "Revision r2 is live, but conversations are not proven to go on with it: no answer. -> Check that the agent can be reached with this key; for a cold start raise the \`attempts\` of the test. Press Re-run to build and test it again.",
      "Revision r2 is live, but is not proven to answer: t2: no answer (and 1 more). -> Check that the agent can be reached with this key; for a cold start raise the \`attempts\` of the test. Press Re-run to build and test it again.",
      "Revision r2 is live, but was not tested: the deploy file could not be read. -> Correct the deploy file on the default branch (the notes name its mistakes), and press Re-run.",
    ]
  `);
});

test('an ended intent has its outcome and the time', () => {
  expect(withOutcome(intent, branchGone(intent), 7)).toEqual({
    ...intent,
    state: 'ended',
    end: { ...branchGone(intent), at: 7 },
  });
});

test.each(['skipped', 'joined'] as const)('a decision to send nothing ends an intent as %s', (kind) => {
  const decision = { kind: 'skip', code: 'branch-gone', branch: 'main' } as const;
  expect(withDecisionOutcome(intent, kind, decision, 7)).toEqual({
    ...intent,
    decision,
    state: 'ended',
    end: { kind, reason: 'The branch main is gone.', at: 7 },
  });
});
