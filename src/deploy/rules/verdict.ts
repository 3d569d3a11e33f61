import type { SmokeTest } from '../file/smoke-test.ts';
import { createFormatter, type Redact } from '../words/format-expectation.ts';
import { whyContradicting, whyUnanswered } from '../words/unproven.ts';
import { asItIs, judgeAll, verdictOf } from './judge.ts';
import { concludeLive, receiverOf } from './against-live.ts';
import { isPatienceOver, reasonOf } from './patience.ts';
import { concludeSeries, nextOfSeries } from './series.ts';
import type { Evidence, NamedVerdict, TestVerdict, UnprovenReason, Verdict } from './verdict-types.ts';

/**
 * The verdict on all attempts at one test. What could not be reached says nothing. What answered must agree: right and
 * wrong together prove nothing. An answer that was only late, before a right one, was a cold start.
 */
export function concludeTest(test: SmokeTest, attempts: readonly Evidence[], redact: Redact = asItIs): TestVerdict {
  const judged = judgeAll(test, attempts, redact);
  if (test.series?.kind === 'live' && isDenied(attempts)) {
    return { kind: 'unproven', because: 'denied', why: whyUnanswered(attempts, createFormatter(redact)) };
  }
  if (test.series?.kind === 'live' && judged.length > 0) {
    const ofNew = attempts.filter((_, index) => receiverOf(test, index) === 'new');
    const concluded = concludeLive(test.series, test, attempts, judgeAll(test, ofNew, redact));
    return withExample(concluded, test, attempts, redact);
  }
  if (test.series && test.series.kind !== 'live' && judged.length > 0)
    return concludeSeries(test.series, attempts, judged);
  const last = judged.findLast(({ kind }) => kind === 'wrong') ?? judged.at(-1);
  if (!last) {
    const because = whyNone(attempts.at(-1));
    return { kind: 'unproven', because, why: whyUnanswered(attempts, createFormatter(redact)) };
  }
  const firstRight = judged.findIndex(({ kind }) => kind === 'right');
  if (firstRight === -1) return verdictOf('failed', last);
  const against = judged.filter(({ kind }, index) => kind === 'wrong' || (kind === 'late' && index > firstRight));
  if (against.length === 0) return verdictOf('passed', last);
  return { kind: 'unproven', because: 'disagreement', why: whyContradicting(judged.length, against) };
}

function whyNone(last: Evidence | undefined): UnprovenReason {
  if (last?.kind !== 'unreachable') return last ? 'ungraded' : 'unreachable';
  return reasonOf(last);
}

function isDenied(attempts: readonly Evidence[]): boolean {
  const last = attempts.at(-1);
  return last?.kind === 'unreachable' && last.denied === true;
}

/**
 * Whether another attempt is worth its time: after no answer, and after a wrong one to see whether the next agrees.
 * A right answer is enough, and so are two that disagree, and a caller that is refused.
 */
export function nextAttempt(test: SmokeTest, attempts: readonly Evidence[]): 'again' | 'enough' {
  if (isDenied(attempts)) return 'enough';
  if (test.series) return nextOfSeries(test.series, test, attempts);
  if (isPatienceOver(test, attempts)) return 'enough';
  return judgeAll(test, attempts).some(({ kind }) => kind === 'right') ? 'enough' : 'again';
}

/** All tests together: one that failed fails all, else one that is unproven leaves all unproven. */
export function concludeAll(tests: readonly NamedVerdict[]): Verdict {
  const kinds = new Set(tests.map(({ verdict }) => verdict.kind));
  const kind = (['failed', 'unproven', 'passed'] as const).find((each) => kinds.has(each)) ?? 'none';
  return { kind, tests };
}

/** The verdict with a wrong answer of the agent that is right less often, where two agents were compared and one was kept. */
function withExample(
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
