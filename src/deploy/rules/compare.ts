import { measures, type ComparisonDesign, type Measure, type SmokeTest } from '../file/smoke-test.ts';
import {
  differenceInterval,
  differs,
  excludesDrop,
  fewerIn,
  largerIn,
  largerThan,
  median,
  type TwoCounts,
} from '../../kit/statistics/comparison-statistics.ts';
import { judgeAll } from './judge.ts';
import { usageOf } from './usage.ts';
import type { Comparison, Evidence, Measured, Sample } from './verdict-types.ts';

/** The answers of both agents to one request each. */
export interface Pair {
  live: Sample;
  changed: Sample;
}

/** The answers of both agents: in pairs, or those of one before those of the other. */
export interface TwoSamples {
  live: readonly Sample[];
  changed: readonly Sample[];
  isPaired: boolean;
  /** How many requests were answered, whatever the reason why others were not; after a cold start. */
  requests?: TwoCounts;
  /** The same without those whose answer is missing by the fault of another; all unless given. */
  blamable?: TwoCounts;
}

/** The numbers of answers after which a comparison may end before it has the most of them: one more look adds to the errors. */
const earlyLooks: readonly number[] = [30, 60];

export const looksOf = (tries: number): number[] => [...earlyLooks.filter((look) => look < tries), tries];

/** All measures of all tests together, and the pass rate of one test. */
const falseAlarm = { suite: 0.01, passRate: 0.001 };
/** What is looked for: the share of answers with another path, of a time or of tokens, and the least of missing answers. */
const sought = { path: 1 / 3, share: 0.25, answered: 0.1 };
/** The share of the error that each look takes before the last one, where only what is hopeless ends a test early. */
const earlyShare = 0.001;
/** A change that is too small to matter: this share of the live median, and at least so many ms. */
const irrelevant = { share: 0.05, ms: 20 };
/** Of an answer, the nodes that are compared. */
const maxNodes = 50;

/** What is compared of an answer; undefined where there was none. */
export function sampleOf(test: SmokeTest, evidence: Evidence): Sample | undefined {
  if (evidence.kind === 'judged') return evidence;
  const [judged] = judgeAll(test, [evidence]);
  if (judged && evidence.kind === 'unreachable')
    return { answer: judged.kind, isMissing: true, firstEventMs: undefined, totalMs: undefined };
  if (!judged || evidence.kind !== 'answered') return undefined;
  return {
    answer: judged.kind,
    firstEventMs: evidence.refused ? undefined : evidence.firstEventMs,
    totalMs: evidence.refused ? undefined : evidence.totalMs,
    nodes: evidence.nodes.slice(0, maxNodes),
    ...usageOf(evidence.values, test.prices),
    ...(judged.advice.length > 0 ? { advice: judged.advice } : {}),
  };
}

/** An answer as what was compared of it: the same again for `sampleOf`. */
export const asEvidence = (sample: Sample): Evidence => ({ kind: 'judged', ...sample });

/** One measure without the others: `isNoWorse` where what is sought is excluded. */
type Alone = Pick<Measured, 'chance' | 'live' | 'changed'> & { isNoWorse: boolean; isMeasured: boolean };

function measure(of: Measure, samples: TwoSamples, drop: number, looks: number): Alone {
  switch (of) {
    case 'answered':
      return answered(samples, drop, looks);
    case 'pass-rate':
      return passRate(samples, drop, looks);
    case 'first-event':
      return amount(samples, ({ firstEventMs }) => firstEventMs, irrelevant.ms);
    case 'total':
      return amount(samples, ({ totalMs }) => totalMs, irrelevant.ms);
    case 'tokens':
      return amount(samples, ({ tokens }) => tokens, 0);
    case 'cost':
      return amount(samples, ({ cost }) => cost, 0);
    case 'nodes':
    case 'tools':
      return paths(samples, (sample) => [...new Set(sample[of])].toSorted(), looks);
    case 'node-order':
      return paths(samples, ({ nodes = [] }) => nodes, looks);
    case 'tool-order':
      return paths(samples, ({ tools = [] }) => tools, looks);
  }
}

const notMeasured: Alone = { chance: 1, live: 0, changed: 0, isNoWorse: false, isMeasured: false };

const countsOf = ({ live, changed }: TwoSamples, isCounted: (sample: Sample) => boolean): TwoCounts => ({
  live: live.filter(isCounted).length,
  liveOf: live.length,
  changed: changed.filter(isCounted).length,
  changedOf: changed.length,
});

const isRight = ({ answer }: Sample): boolean => answer === 'right';

function passRate(samples: TwoSamples, drop: number, looks: number): Alone {
  if (samples.live.length === 0 || samples.changed.length === 0) return notMeasured;
  const counts = countsOf(samples, isRight);
  return {
    chance: fewerIn(counts),
    live: counts.live,
    changed: counts.changed,
    isNoWorse: excludesDrop(counts, drop, looks),
    isMeasured: true,
  };
}

/**
 * The share of the requests that brought an answer: an agent that answered all of them has lost none. It is worse by
 * what it can be blamed for, and no worse only if nothing else is missing either. Where the live agent answered before
 * the new one, what is missing of it is not known: then only a pass follows from the new one's.
 */
function answered({ requests, blamable = requests, isPaired }: TwoSamples, drop: number, looks: number): Alone {
  if (!requests || !blamable || requests.liveOf === 0 || requests.changedOf === 0) return notMeasured;
  return {
    chance: isPaired ? fewerIn(blamable) : 1,
    live: requests.live / requests.liveOf,
    changed: requests.changed / requests.changedOf,
    isNoWorse:
      requests.changed === requests.changedOf || excludesDrop(requests, Math.max(drop, sought.answered), looks),
    isMeasured: true,
  };
}

type ValueOf = (sample: Sample) => number | undefined;

/** In pairs each answer is compared with the one beside it: what the hour changes, it changes for both. */
function amount(samples: TwoSamples, valueOf: ValueOf, least: number): Alone {
  const { live, changed, chanceOf } = samples.isPaired
    ? pairedAmounts(samples, valueOf)
    : separateAmounts(samples, valueOf);
  if (live.length === 0 || changed.length === 0) return notMeasured;
  // All answers, as the plots beside it: those of pairs alone would have another median.
  const medianOf = (all: readonly Sample[]): number => median(all.flatMap((each) => valueOf(each) ?? []));
  const [usual, usualChanged] = [medianOf(samples.live), medianOf(samples.changed)];
  const small = Math.max(least, usual * irrelevant.share);
  const large = Math.max(2 * small, usual * sought.share);
  return {
    chance: chanceOf(small).larger,
    live: usual,
    changed: usualChanged,
    isNoWorse: chanceOf(large).smaller < falseAlarm.suite / 3,
    isMeasured: true,
  };
}

interface Amounts {
  live: readonly number[];
  changed: readonly number[];
  /** The p-values of "larger by more than `shift`" and "larger by less than `shift`". */
  chanceOf: (shift: number) => { larger: number; smaller: number };
}

function pairedAmounts(samples: TwoSamples, valueOf: ValueOf): Amounts {
  const both = samples.live.flatMap((sample, index) => {
    const other = samples.changed[index];
    const [former, latter] = [valueOf(sample), other && valueOf(other)];
    return former === undefined || latter === undefined ? [] : [{ former, latter }];
  });
  const differences = both.map(({ former, latter }) => latter - former);
  const opposite = differences.map((each) => -each);
  return {
    live: both.map(({ former }) => former),
    changed: both.map(({ latter }) => latter),
    chanceOf: (shift) => ({ larger: largerThan(differences, shift), smaller: largerThan(opposite, -shift) }),
  };
}

function separateAmounts(samples: TwoSamples, valueOf: ValueOf): Amounts {
  const valuesOf = (all: readonly Sample[]): number[] => all.flatMap((sample) => valueOf(sample) ?? []);
  const [live, changed] = [valuesOf(samples.live), valuesOf(samples.changed)];
  return {
    live,
    changed,
    chanceOf: (shift) => {
      const moved = live.map((each) => each + shift);
      return { larger: largerIn(moved, changed), smaller: largerIn(changed, moved) };
    },
  };
}

/** Each path is compared on its own, and the most striking one counts as that of so many. */
function paths(samples: TwoSamples, namesOf: (sample: Sample) => readonly string[], looks: number): Alone {
  const { live, changed } = samples;
  const all = [...live, ...changed];
  const isEmpty = all.every((sample) => namesOf(sample).length === 0);
  if (live.length === 0 || changed.length === 0 || isEmpty) return notMeasured;
  const pathOf = (sample: Sample): string => JSON.stringify(namesOf(sample));
  const seen = [...new Set(all.map(pathOf))];
  const counts = seen.map((path) => countsOf(samples, (sample) => pathOf(sample) === path));
  return {
    chance: Math.min(1, seen.length * Math.min(...counts.map(differs))),
    live: new Set(live.map(pathOf)).size,
    changed: new Set(changed.map(pathOf)).size,
    isNoWorse: counts.every((each) => {
      const { low, high } = differenceInterval(each, looks);
      return low > -sought.path && high < sought.path;
    }),
    isMeasured: true,
  };
}

/** The share of the error that a look after so many answers takes, where the agents do not answer in pairs. */
const shareOf = (answers: number, tries: number): number =>
  answers < tries ? earlyShare : 1 - earlyShare * (looksOf(tries).length - 1);

/**
 * All measures of one test. Each is looked at as strictly as all deciding measures of all tests together allow, with
 * every look counted, so it may be repeated after each of them.
 */
export function compareSamples(samples: TwoSamples, design: ComparisonDesign): Measured[] {
  const { tries, drop, decideBy, tests } = design;
  const deciding: ReadonlySet<Measure> = new Set([...decideBy, 'answered']);
  const strict = falseAlarm.suite / (tests * deciding.size);
  const looks = samples.isPaired ? looksOf(tries).length : 1;
  const share = samples.isPaired ? 1 / looks : shareOf(samples.changed.length, tries);
  return measures.map((of): Measured => {
    const { chance, isNoWorse, isMeasured, live, changed } = measure(of, samples, drop, looks);
    // Where one agent falls silent there is one look more.
    const counted = Math.min(1, of === 'answered' ? chance * (looks + 1) : chance / share);
    const isWorse =
      counted <= (of === 'pass-rate' || of === 'answered' ? Math.min(strict, falseAlarm.passRate) : strict);
    const verdict = !isMeasured ? 'not-measured' : isWorse ? 'worse' : isNoWorse ? 'no-worse' : 'undecided';
    return { measure: of, verdict, decides: deciding.has(of), chance: counted, live, changed };
  });
}

/** What a verdict follows from, where it was measured. */
export const decisive = (measured: readonly Measured[]): Measured[] =>
  measured.filter(({ decides, verdict }) => decides && verdict !== 'not-measured');

export const isOpen = (measured: readonly Measured[]): boolean =>
  decisive(measured).some(({ verdict }) => verdict === 'undecided');

const timesCounts = ({ live, liveOf, changed, changedOf }: TwoCounts, times: number): TwoCounts => ({
  live: live * times,
  liveOf: liveOf * times,
  changed: changed * times,
  changedOf: changedOf * times,
});

/**
 * How many answers of each agent would decide what is open, if the further ones are like those so far; undefined beyond
 * three times as many, for exact tests of more take long.
 */
export function answersNeeded(samples: TwoSamples, design: ComparisonDesign): number | undefined {
  const repeated = (times: number): TwoSamples => {
    const more = (all: readonly Sample[]): Sample[] => Array.from({ length: times }, () => all).flat();
    const { requests, blamable } = samples;
    return {
      ...samples,
      ...(requests ? { requests: timesCounts(requests, times) } : {}),
      ...(blamable ? { blamable: timesCounts(blamable, times) } : {}),
      live: more(samples.live),
      changed: more(samples.changed),
    };
  };
  const enough = [2, 3].find((times) => !isOpen(compareSamples(repeated(times), design)));
  return enough && enough * samples.changed.length;
}

/** The answers of a test with what they say of each measure. */
export const comparisonOf = (samples: TwoSamples, unreachable: number, measured: readonly Measured[]): Comparison => ({
  live: { right: samples.live.filter(isRight).length, answers: samples.live.length },
  changed: { right: samples.changed.filter(isRight).length, answers: samples.changed.length },
  unreachable,
  measures: measured,
  times: {
    live: samples.live.flatMap(({ totalMs }) => totalMs ?? []),
    changed: samples.changed.flatMap(({ totalMs }) => totalMs ?? []),
  },
  isBeside: samples.isPaired,
});
