import type { Measure, Series, SmokeTest } from '../config/smoke-test.ts';
import {
  answersNeeded,
  compareSamples,
  comparisonOf,
  decisive,
  isOpen,
  looksOf,
  sampleOf,
  type TwoSamples,
} from './compare.ts';
import { expectedOf, formatComparison, seenOf } from './format-comparison.ts';
import { withCounts } from './advice.ts';
import { judgeAll, type JudgedAttempt } from './judge.ts';
import type { Evidence, ExpectationResult, Measured, Sample, TestVerdict } from './verdict-types.ts';

// Tests whose verdict is how the new agent answers beside the live one.

type LiveSeries = Extract<Series, { kind: 'live' }>;

/** After so many pairs in a row without the answer of one agent the test ends. */
const mostIncomplete = 8;
/** With so many answers of each, a drop of 30 points is found in 97 %. */
const mostBefore = 100;

/**
 * Which agent gets the request of this attempt, counted from 0. Two attempts are a pair, and every second pair begins
 * with the new agent; where the live one was measured before, its answers are the first.
 */
export function receiverOf({ series }: SmokeTest, attempt: number): 'live' | 'new' {
  if (series?.kind !== 'live') return 'new';
  if (series.liveFirst !== undefined) return attempt < series.liveFirst ? 'live' : 'new';
  return Math.floor(attempt / 2) % 2 === attempt % 2 ? 'live' : 'new';
}

/** The next `count` attempts after so many: those of a list are sent one after the other, the lists at once. */
export function turnsOf({ series }: SmokeTest, made: number, count: number): number[][] {
  const next = Array.from({ length: count }, (_, index) => made + index);
  if (series?.kind !== 'live' || series.liveFirst !== undefined) return next.map((attempt) => [attempt]);
  return Object.values(Object.groupBy(next, (attempt) => Math.floor(attempt / 2))).flatMap((pair) =>
    pair ? [pair] : [],
  );
}

/** The test where no live agent answers: against its `former` answers; without any, a test of one answer. */
export function withoutLive(test: SmokeTest, former: number): SmokeTest {
  const { series, ...alone } = test;
  if (series?.kind !== 'live') return test;
  if (former === 0) return alone;
  return { ...alone, series: { ...series, liveFirst: former, tries: Math.min(series.tries, former) } };
}

/** How many answers of the live agent are compared where both never answer at the same time: they delay the change. */
export const answersBefore = ({ series }: SmokeTest): number =>
  series?.kind === 'live' ? Math.min(series.tries, mostBefore) : 0;

/** Whether answers of another hour are comparable: how long an answer takes depends on the hour. */
export const comparesKept = ({ series }: SmokeTest): boolean =>
  series?.kind === 'live' && !series.decideBy.some((measure) => measure === 'first-event' || measure === 'total');

/** The answers of the new agent that were compared; none of a test that compares nothing. */
export const comparedAnswers = (test: SmokeTest, attempts: readonly Evidence[]): readonly Sample[] =>
  test.series?.kind === 'live' ? gather(test.series, test, attempts).samples.changed : [];

interface Gathered {
  samples: TwoSamples;
  /** Requests without an answer that is counted. */
  unreachable: number;
  /** How many of the last requests in a row, or of the last pairs, are of no use. */
  uselessAtEnd: number;
}

/** What is compared: whole pairs, or all answers of each agent. A cold start is that of the new agent only. */
function gather(series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): Gathered {
  const samples = attempts.map((evidence) => sampleOf(test, evidence));
  if (series.liveFirst !== undefined) {
    const present = (all: readonly (Sample | undefined)[]): Sample[] => all.flatMap((each) => each ?? []);
    const after = samples.slice(series.liveFirst);
    const compared = { live: present(samples.slice(0, series.liveFirst)), changed: present(after.slice(1)) };
    return {
      samples: { ...compared, isPaired: false },
      unreachable: samples.filter((each) => each === undefined).length,
      uselessAtEnd: after.length - 1 - after.findLastIndex((each) => each !== undefined),
    };
  }
  const pairs = Array.from({ length: Math.floor(attempts.length / 2) }, (_, pair) => {
    const [first, second] = [samples[2 * pair], samples[2 * pair + 1]];
    const [live, changed] = receiverOf(test, 2 * pair) === 'live' ? [first, second] : [second, first];
    return live && changed ? { live, changed } : undefined;
  });
  const whole = pairs.slice(1).flatMap((pair) => pair ?? []);
  return {
    samples: { live: whole.map(({ live }) => live), changed: whole.map(({ changed }) => changed), isPaired: true },
    unreachable: samples.filter((each) => each === undefined).length,
    uselessAtEnd: pairs.length - 1 - pairs.findLastIndex((pair) => pair !== undefined),
  };
}

/** The verdict on the answers of both agents; `judged` are those of the new one. */
export function concludeLive(
  series: LiveSeries,
  test: SmokeTest,
  attempts: readonly Evidence[],
  judged: readonly JudgedAttempt[],
): TestVerdict {
  const { samples, unreachable } = gather(series, test, attempts);
  // The measures take long, and are looked at no more often than the error allows.
  if (nextOfLive(series, test, attempts) === 'again') {
    const why = `${samples.changed.length} answers of each agent so far`;
    return { kind: 'unproven', because: 'undecided', why };
  }
  const comparison = comparisonOf(samples, unreachable, series);
  const measured = decisive(comparison.measures);
  const worse = measured.filter(({ verdict }) => verdict === 'worse');
  if (samples.live.length === 0 || samples.changed.length === 0) {
    return { kind: 'unproven', because: 'unreachable', why: formatComparison(comparison), comparison };
  }
  const isUseless = has(measured, 'pass-rate') && comparison.live.right + comparison.changed.right === 0;
  if (isUseless || measured.length === 0) {
    const but = isUseless ? 'neither has given one right answer' : 'nothing that decides was measured';
    const why = `${formatComparison(comparison)}, but ${but}`;
    return { kind: 'unproven', because: 'undecided', why, comparison };
  }
  if (worse.length === 0 && isOpen(measured)) {
    const needed = answersNeeded(samples, series);
    const open = { ...comparison, ...(needed === undefined ? {} : { needed }) };
    return { kind: 'unproven', because: 'undecided', why: formatComparison(open), comparison: open };
  }
  const kind = worse.length > 0 ? 'failed' : 'passed';
  const shown = (kind === 'failed' ? worse : measured).map((each): ExpectationResult => ({
    expectation: { kind: 'no-worse', measure: each.measure },
    expected: expectedOf(each),
    held: kind === 'passed',
    seen: seenOf(each, comparison),
  }));
  const isWrong = (attempt: JudgedAttempt): boolean => attempt.kind !== 'right' && attempt.held.length > 0;
  const example = kind === 'failed' && has(worse, 'pass-rate') ? judged.findLast(isWrong) : undefined;
  const last = example ?? judged.at(-1);
  const ofLive = attempts.filter((_, index) => receiverOf(test, index) === 'live');
  const advised = (example ?? judged.findLast(({ held }) => held.length > 0))?.held ?? [];
  const advice = withCounts(advised, judged, judgeAll(test, ofLive)).filter(({ advises }) => advises);
  return {
    kind,
    held: [...shown, ...(example?.held.filter(({ advises }) => !advises) ?? []), ...advice],
    firstEventMs: last?.firstEventMs,
    totalMs: last?.totalMs ?? 0,
    comparison,
  };
}

const has = (all: readonly Measured[], measure: Measure): boolean => all.some((each) => each.measure === measure);

/** Whether more answers are needed. */
export function nextOfLive(series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): 'again' | 'enough' {
  const { samples, unreachable, uselessAtEnd } = gather(series, test, attempts);
  const answers = samples.isPaired ? samples.live.length : samples.changed.length;
  const mostUseless = samples.isPaired ? mostIncomplete : test.attempts;
  if (answers >= series.tries || uselessAtEnd >= mostUseless || unreachable > 2 * series.tries) return 'enough';
  if (!samples.isPaired || attempts.length % 2 === 1 || !looksOf(series.tries).includes(answers)) return 'again';
  return isOpen(compareSamples(samples, series)) ? 'again' : 'enough';
}

/** Whether the last request, or each of the last pair, was answered. */
export function isReachable({ series }: SmokeTest, attempts: readonly Evidence[]): boolean {
  const last = series?.kind === 'live' && series.liveFirst === undefined ? attempts.slice(-2) : attempts.slice(-1);
  return last.every(({ kind }) => kind !== 'unreachable');
}

/** How many requests are sent next: whole pairs, and no more than the next look needs. */
export function requestsOfLive(series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): number {
  const { samples } = gather(series, test, attempts);
  const isCold = attempts.length <= (series.liveFirst ?? 0);
  const answers = samples.isPaired ? samples.live.length : samples.changed.length;
  const look = looksOf(series.tries).find((each) => each > answers) ?? answers + 1;
  const atOnce = isCold || !isReachable(test, attempts) ? 1 : Math.min(series.atOnce, look - answers);
  return samples.isPaired ? 2 * atOnce - (attempts.length % 2) : atOnce;
}
