import { expect, test } from 'vitest';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { comparisonSoFar, receiverOf, withoutLive } from '../../../src/deploy/rules/against-live.ts';
import { decisionOf } from '../../../src/deploy/rules/hold-state.ts';
import { attemptsAtOnce } from '../../../src/deploy/rules/series.ts';
import type { Evidence } from '../../../src/deploy/rules/verdict-types.ts';
import { concludeTest, nextAttempt } from '../../../src/deploy/rules/verdict.ts';

const compared: SmokeTest = {
  name: 'greets',
  assistant: 'agent',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [],
  attempts: 3,
  timeoutMs: 3_000,
  series: { kind: 'live', atOnce: 4, tries: 160, drop: 0.3, decideBy: ['pass-rate', 'total', 'tokens'], tests: 1 },
};

const right: Evidence = { kind: 'judged', answer: 'right', firstEventMs: 5, totalMs: 100 };
const gone: Evidence = { kind: 'unreachable', why: 'answered 502' };
const broken: Evidence = { kind: 'unreachable', why: 'answered 500', fault: 'server-error' };
const hanging: Evidence = { kind: 'unreachable', why: 'it hangs', fault: 'hangs' };
const ungraded: Evidence = { kind: 'unreachable', why: 'not graded', ungraded: true };
const busy: Evidence = { kind: 'unreachable', why: '429', fault: 'provider' };

/** Sends requests until nothing more is needed; each agent's answers follow from how many it gave. */
function concluded(answerOf: (agent: 'live' | 'new', nth: number) => Evidence, of = compared, before: Evidence[] = []) {
  let attempts = before;
  const given = { live: 0, new: 0 };
  while (nextAttempt(of, attempts) === 'again') {
    const from = attempts.length;
    const more = Array.from({ length: attemptsAtOnce(of, attempts) }, (_, index) => {
      const agent = receiverOf(of, from + index);
      given[agent] += 1;
      return answerOf(agent, given[agent]);
    });
    attempts = [...attempts, ...more];
  }
  return concludeTest(of, attempts);
}

function played(...given: Parameters<typeof concluded>) {
  const verdict = concluded(...given);
  const worse = verdict.comparison?.measures.filter((each) => each.verdict === 'worse').map(({ measure }) => measure);
  return { kind: verdict.kind, because: 'because' in verdict ? verdict.because : undefined, worse: worse ?? [] };
}
const ofNew =
  (evidence: Evidence, isSo: (nth: number) => boolean = () => true) =>
  (agent: 'live' | 'new', nth: number): Evidence =>
    agent === 'new' && isSo(nth) ? evidence : right;
const often = (nth: number): boolean => nth % 10 < 3;

test.each<[string, ReturnType<typeof ofNew>, object]>([
  ['answers all', ofNew(right), { kind: 'passed', worse: [] }],
  ['never answers beside a live one', ofNew(gone), { kind: 'failed', worse: ['answered'] }],
  ['hangs', ofNew(hanging), { kind: 'failed', worse: ['answered', 'pass-rate'] }],
  ['answers three of ten requests with HTTP 500', ofNew(broken, often), { kind: 'failed' }],
  ['loses three of ten answers', ofNew(gone, often), { kind: 'failed', worse: ['answered'] }],
  ['is as silent as the live one', () => gone, { kind: 'unproven', because: 'unreachable', worse: [] }],
  ['meets a provider that is busy', ofNew(busy), { kind: 'unproven', because: 'provider', worse: [] }],
  ['meets a busy provider now and then', ofNew(busy, (nth) => nth % 10 === 0), { kind: 'passed', worse: [] }],
  ['alone meets a provider that is busy', ofNew(busy, often), { kind: 'unproven', because: 'provider', worse: [] }],
  ['meets it as often as the live one', (_, nth) => (often(nth) ? busy : right), { kind: 'passed', worse: [] }],
  ['alone is not graded', ofNew(ungraded, often), { kind: 'unproven', because: 'ungraded', worse: [] }],
])('against live, an agent that %s', (_, answerOf, expected) => expect(played(answerOf)).toMatchObject(expected));

test.each(['rarely', 'often', 'nearly always'])('a provider that fails the new agent %s proves nothing', (how) => {
  const share = { rarely: 3, often: 6, 'nearly always': 9 }[how] ?? 0;
  const before = Array.from({ length: 100 }, () => right);
  const failing = (nth: number): boolean => nth % 10 < share;
  expect(played(ofNew(busy, failing), withoutLive(compared, 100), before)).toMatchObject({
    kind: 'unproven',
    worse: [],
  });
});

test.each([
  ['answers beside a silent live one', (agent: string) => (agent === 'live' ? gone : right), 'promoted'],
  ['is as silent as the live one', () => gone, 'discarded'],
] as const)('decides about an unproven agent that %s, where that promotes', (_, answerOf, decision) => {
  const tests = [{ name: 'greets', attempts: 16, verdict: concluded(answerOf) }];
  expect(decisionOf({ kind: 'unproven', tests }, { isReplacing: true, onUnproven: 'promote' })).toBe(decision);
});

test.each([
  ['answers beside a silent live one', (agent: string) => (agent === 'live' ? gone : right), 'promoted'],
  ['gives no answer', (agent: string) => (agent === 'live' ? right : gone), 'discarded'],
] as const)('decides about an agent that %s when its time is up, where that promotes', (_, answerOf, decision) => {
  const attempts = Array.from({ length: 8 }, (__, index) => answerOf(receiverOf(compared, index)));
  const comparison = comparisonSoFar(compared, attempts);
  const verdict = { kind: 'unproven', because: 'undecided', why: 'late', ...(comparison && { comparison }) } as const;
  const tests = [{ name: 'greets', attempts: 8, verdict }];
  expect(decisionOf({ kind: 'unproven', tests }, { isReplacing: true, onUnproven: 'promote' })).toBe(decision);
});

test('by default no time decides where the live agent answered before', () => {
  const slower: Evidence = { kind: 'judged', answer: 'right', firstEventMs: 50, totalMs: 900 };
  const before = Array.from({ length: 100 }, () => right);
  const usual: SmokeTest = { ...compared, series: { ...seriesOf(compared), isUsual: true } };
  expect(played(() => slower, withoutLive(usual, 100), before)).toMatchObject({ kind: 'passed' });
  expect(played(() => slower, withoutLive(compared, 100), before)).toMatchObject({ kind: 'failed' });
});

function seriesOf({ series }: SmokeTest) {
  if (series?.kind !== 'live') throw new Error('not against live');
  return series;
}
