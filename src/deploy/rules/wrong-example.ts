import type { SmokeTest } from '../file/smoke-test.ts';
import { receiverOf } from './against-live.ts';
import type { Redact } from '../words/format-expectation.ts';
import { judgeAll } from './judge.ts';
import type { Evidence, TestVerdict } from './verdict-types.ts';

/** The verdict with a wrong answer of the agent that is right less often, where two agents were compared and one was kept. */
export function withExample(
  verdict: TestVerdict,
  test: SmokeTest,
  attempts: readonly Evidence[],
  redact: Redact,
): TestVerdict {
  const { comparison } = verdict;
  if (!comparison) return verdict;
  const { live, changed } = comparison;
  const of = live.right / live.answers < changed.right / changed.answers ? 'live' : 'new';
  const answers = attempts.filter((_, index) => receiverOf(test, index) === of);
  const missed = judgeAll(test, answers, redact)
    .flatMap(({ held }) => held.find((each) => !each.held && !each.advises) ?? [])
    .at(-1);
  if (!missed) return verdict;
  const example = { of, expected: redact(missed.expected), seen: redact(missed.seen) } as const;
  return { ...verdict, comparison: { ...comparison, example } };
}
