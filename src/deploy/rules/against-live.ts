import type { Measure, Series, SmokeTest } from '../file/smoke-test.ts';
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
import { expectedOf, formatComparison, seenOf } from '../words/format-comparison.ts';
import { providerAdvice, withCounts } from '../words/advice.ts';
import { atOnceAfter, isPatienceOver, othersFault, providerFailures, reasonOf } from './patience.ts';
import { isAgentsFault, judgeAll, type JudgedAttempt } from './judge.ts';
import type { TwoCounts } from '../../kit/statistics/comparison-statistics.ts';
import { answersSoFar, whyUseless } from '../words/unproven.ts';
import type { Comparison, Evidence, ExpectationResult, Measured, Sample, TestVerdict } from './verdict-types.ts';

// Tests whose verdict is how the new agent answers beside the live one.

type LiveSeries = Extract<Series, { kind: 'live' }>;

/** After so many pairs in a row without the answer of one agent the test ends. */
const maxIncomplete = 8;
/** With so many answers of each, a drop of 30 points is found in 97 %. */
const maxLiveAnswersBefore = 100;

/** How the requests to both agents follow each other, and when their answers are looked at. */
interface Order {
  isPaired: boolean;
  /** The first so many attempts are those of the live agent, before the new one was there. */
  before: number;
  /** Of the others, so many are made one after the other, and are compared if all of them are answered. */
  together: number;
  /** After so many of these in a row that are of no use the test ends. */
  mostUseless: number;
  /** After so many answers of the new agent the test may end. */
  looks: readonly number[];
}

function orderOf({ series, attempts }: SmokeTest): Order {
  const alone = { isPaired: false, before: 0, together: 1, mostUseless: attempts, looks: [] };
  if (series?.kind !== 'live') return alone;
  const { liveAnswersBefore: before, tries } = series;
  const looks = looksOf(tries);
  if (before !== undefined) return { ...alone, before, looks };
  return { isPaired: true, before: 0, together: 2, mostUseless: maxIncomplete, looks };
}

/** The agent that gets a request: the one that serves, or the one that is tested. */
export type Receiver = 'live' | 'new';

/**
 * Which agent gets the request of this attempt, counted from 0. Two attempts are a pair, and every second pair begins
 * with the new agent; where the live one was measured before, its answers are the first.
 */
export function receiverOf(test: SmokeTest, attempt: number): Receiver {
  const { before, isPaired } = orderOf(test);
  if (isPaired) return Math.floor(attempt / 2) % 2 === attempt % 2 ? 'live' : 'new';
  return attempt < before ? 'live' : 'new';
}

/** Who gets the next `count` attempts after so many: those of a list one after the other, the lists at once. */
export function turnsOf(test: SmokeTest, made: number, count: number): Receiver[][] {
  const { together } = orderOf(test);
  const next = Array.from({ length: count }, (_, index) => made + index);
  const turns = Map.groupBy(next, (attempt) => Math.floor(attempt / together));
  return [...turns.values()].map((turn) => turn.map((attempt) => receiverOf(test, attempt)));
}

/** The test where no live agent answers: against its `former` answers; without any, a test of one answer. */
export function withoutLive(test: SmokeTest, former: number): SmokeTest {
  const { series, ...alone } = test;
  if (series?.kind !== 'live') return test;
  if (former === 0) return alone;
  const tries = Math.min(series.tries, former);
  return { ...alone, series: { ...series, decideBy: decidesApart(series), liveAnswersBefore: former, tries } };
}

/** What decides where the agents answer one after the other: by default no times, which depend on the hour. */
const decidesApart = ({ decideBy, isUsual }: LiveSeries): readonly Measure[] =>
  isUsual ? decideBy.filter((measure) => !isTime(measure)) : decideBy;

const isTime = (measure: Measure): boolean => measure === 'first-event' || measure === 'total';

/** How many answers of the live agent are compared where both never answer at the same time: they delay the change. */
export const answersBefore = ({ series }: SmokeTest): number =>
  series?.kind === 'live' ? Math.min(series.tries, maxLiveAnswersBefore) : 0;

/** Whether answers of another hour are comparable: how long an answer takes depends on the hour. */
export const comparesKept = ({ series }: SmokeTest): boolean =>
  series?.kind === 'live' && !decidesApart(series).some(isTime);

/** The answers of the new agent that were compared; none of a test that compares nothing. */
export const comparedAnswers = (test: SmokeTest, attempts: readonly Evidence[]): readonly Sample[] =>
  test.series?.kind === 'live' ? answersOf(test, attempts).samples.changed : [];

interface ComparedAnswers {
  samples: TwoSamples;
  /** Requests without an answer that is counted. */
  unreachable: number;
  /** How many of the last requests in a row, or of the last pairs, are of no use. */
  uselessAtEnd: number;
  /** They are of no use because one agent alone gave no answer, or the provider failed. */
  isOneSided: boolean;
}

/** What is compared: whole pairs, or all answers of each agent. A cold start is that of the new agent only. */
function answersOf(test: SmokeTest, attempts: readonly Evidence[]): ComparedAnswers {
  const { before, together, isPaired } = orderOf(test);
  const made = attempts.map((evidence, attempt) => ({
    receiver: receiverOf(test, attempt),
    sample: sampleOf(test, evidence),
    isBlamable: othersFault(evidence) === undefined,
  }));
  const turns = Array.from({ length: Math.floor(Math.max(0, made.length - before) / together) }, (_, turn) => {
    const ofTurn = made.slice(before + turn * together, before + (turn + 1) * together);
    return ofTurn.every(({ sample }) => sample) ? ofTurn : undefined;
  });
  const compared = [...made.slice(0, before), ...turns.slice(1).flatMap((turn) => turn ?? [])];
  const samplesOf = (agent: 'live' | 'new'): Sample[] =>
    compared.flatMap(({ receiver, sample }) => (receiver === agent && sample ? [sample] : []));
  const [live, changed] = [samplesOf('live'), samplesOf('new')];
  const countsOf = (requests: typeof made): TwoCounts => {
    const of = (agent: 'live' | 'new') => requests.filter(({ receiver }) => receiver === agent);
    const answered = (agent: 'live' | 'new') => of(agent).filter(({ sample }) => sample && !sample.isMissing);
    return {
      live: isPaired ? answered('live').length : live.length,
      liveOf: isPaired ? of('live').length : live.length,
      changed: answered('new').length,
      changedOf: of('new').length,
    };
  };
  const warm = made.slice(before + together);
  const requests = countsOf(warm);
  const blamable = countsOf(warm.filter(({ isBlamable }) => isBlamable));
  const uselessAtEnd = turns.length - 1 - turns.findLastIndex((turn) => turn !== undefined);
  const last = made.slice(made.length - uselessAtEnd * together);
  const answering = new Set(last.flatMap(({ receiver, sample }) => (sample ? [receiver] : [])));
  return {
    samples: { live, changed, isPaired, requests, blamable },
    unreachable: made.filter(({ sample }) => !sample || sample.isMissing).length,
    uselessAtEnd,
    isOneSided: answering.size > 0 || providerFailures(attempts.slice(-together)) > 0,
  };
}

/** What the answers so far mean. */
interface Look {
  answers: ComparedAnswers;
  next: 'again' | 'enough';
  measures: () => readonly Measured[];
}

/** A verdict and whether the test goes on follow from the same measures, which take long. */
const lastLooks = new WeakMap<readonly Evidence[], { test: SmokeTest; made: number; look: Look }>();

/** Measures no more often than the error allows. */
function lookAt(series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): Look {
  const last = lastLooks.get(attempts);
  if (last?.test === test && last.made === attempts.length) return last.look;
  const answers = answersOf(test, attempts);
  let measured: readonly Measured[] | undefined;
  const measures = (): readonly Measured[] => (measured ??= compareSamples(answers.samples, series));
  const { isPaired, together, looks, mostUseless } = orderOf(test);
  const { samples, unreachable, uselessAtEnd, isOneSided } = answers;
  const count = samples.changed.length;
  const mostSilent = isOneSided && isPaired ? 2 * mostUseless : mostUseless;
  const isSilent = isPaired ? uselessAtEnd >= mostSilent : uselessAtEnd > 0 && isPatienceOver(test, attempts);
  const isLast = count >= series.tries || isSilent || unreachable > 2 * series.tries;
  const isLook = attempts.length % together === 0 && looks.includes(count);
  const isDecided = (): boolean => (isPaired ? !isOpen(measures()) : worseOf(measures()).length > 0);
  const next = isLast || (isLook && isDecided()) ? 'enough' : 'again';
  const look = { answers, next, measures } as const;
  lastLooks.set(attempts, { test, made: attempts.length, look });
  return look;
}

/** What makes a test fail. */
const worseOf = (measured: readonly Measured[]): Measured[] =>
  decisive(measured).filter(({ verdict }) => verdict === 'worse');

/** The verdict on the answers of both agents; `judged` are those of the new one. */
export function concludeLive(
  series: LiveSeries,
  test: SmokeTest,
  attempts: readonly Evidence[],
  judged: readonly JudgedAttempt[],
): TestVerdict {
  const { answers, next, measures } = lookAt(series, test, attempts);
  const { samples, unreachable } = answers;
  if (next === 'again') {
    return { kind: 'unproven', because: 'undecided', why: answersSoFar(samples.changed.length) };
  }
  const comparison = comparisonOf(samples, unreachable, measures());
  const measured = decisive(comparison.measures);
  const worse = worseOf(measured);
  if (worse.length === 0 && (samples.live.length === 0 || samples.changed.length === 0)) {
    const last = attempts.findLast((each) => each.kind === 'unreachable');
    const why = `${formatComparison(comparison)}${last ? `, such as: ${last.why}` : ''}`;
    return { kind: 'unproven', because: last ? reasonOf(last) : 'unreachable', why, comparison };
  }
  const isUseless =
    worse.length === 0 && has(measured, 'pass-rate') && comparison.live.right + comparison.changed.right === 0;
  if (isUseless || (worse.length === 0 && !measured.some(({ measure }) => measure !== 'answered'))) {
    return { kind: 'unproven', because: 'undecided', why: whyUseless(comparison, isUseless), comparison };
  }
  if (worse.length === 0 && isOpen(measured)) {
    const open = { ...comparison, needed: answersNeeded(samples, series) ?? null };
    const isMissing = measured.some(({ measure, verdict }) => measure === 'answered' && verdict === 'undecided');
    const ofNew = attempts.filter((_, index) => receiverOf(test, index) === 'new');
    const others = isMissing ? ofNew.flatMap((each) => othersFault(each) ?? []) : [];
    return { kind: 'unproven', because: others.at(-1) ?? 'undecided', why: formatComparison(open), comparison: open };
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
    held: [
      ...shown,
      ...(example?.held.filter(({ advises }) => !advises) ?? []),
      ...advice,
      ...providerAdvice(attempts),
    ],
    firstEventMs: last?.firstEventMs,
    totalMs: last?.totalMs ?? 0,
    comparison,
  };
}

const has = (all: readonly Measured[], measure: Measure): boolean => all.some((each) => each.measure === measure);

/** What is known of a comparison whose time is up; undefined where the new agent has answered nothing. */
export function comparisonSoFar(test: SmokeTest, attempts: readonly Evidence[]): Comparison | undefined {
  if (test.series?.kind !== 'live') return undefined;
  const { answers, measures } = lookAt(test.series, test, attempts);
  const { samples, unreachable } = answers;
  return samples.requests?.changed ? comparisonOf(samples, unreachable, measures()) : undefined;
}

/** Whether more answers are needed. */
export const nextOfLive = (series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): 'again' | 'enough' =>
  lookAt(series, test, attempts).next;

/** Whether the last request, or each of the last pair, was answered. */
export const isReachable = (test: SmokeTest, attempts: readonly Evidence[]): boolean =>
  attempts.slice(-orderOf(test).together).every((each) => each.kind !== 'unreachable' || isAgentsFault(each));

/** How many requests are sent next: whole pairs, and no more than the next look needs. */
export function requestsOfLive(series: LiveSeries, test: SmokeTest, attempts: readonly Evidence[]): number {
  const { before, together, looks } = orderOf(test);
  const answers = answersOf(test, attempts).samples.changed.length;
  const look = looks.find((each) => each > answers) ?? answers + 1;
  const isCold = attempts.length <= before;
  const atOnce =
    isCold || !isReachable(test, attempts) ? 1 : Math.min(atOnceAfter(attempts, series.atOnce), look - answers);
  return together * atOnce - (attempts.length % together);
}
