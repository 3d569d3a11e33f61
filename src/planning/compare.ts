import type { SmokeTest } from '../config/smoke-test.ts';
import { isObject } from '../contract/json-object.ts';
import {
  differenceInterval,
  differs,
  fewerIn,
  holm,
  largerThan,
  median,
  shiftOf,
  type TwoCounts,
} from '../comparison-statistics.ts';
import { judgeAll } from './judge.ts';
import type { AnswerKind, Evidence } from './verdict-types.ts';

/** What is compared of one answer. */
export interface Sample {
  /** A late answer is not right. */
  answer: AnswerKind;
  firstEventMs: number | undefined;
  totalMs: number;
  nodes: readonly string[];
  tokens: number | undefined;
}

/** The answers of both agents to one request each, sent one after the other. */
export interface Pair {
  live: Sample;
  changed: Sample;
}

export const measures = ['pass-rate', 'first-event', 'total', 'nodes', 'node-order', 'tokens'] as const;
export type Measure = (typeof measures)[number];

/** What is said of one measure of one test. `chance` is its p-value, with all looks counted. */
export interface Measured {
  measure: Measure;
  verdict: 'worse' | 'no-worse' | 'undecided' | 'not-measured';
  chance: number;
  live: number;
  changed: number;
}

/** The pairs after which a comparison may end, and the most of them. */
export const defaultLooks: readonly number[] = [30, 60, 160];

/** All measures of all tests together, and the pass rate of one test. */
const falseAlarm = { suite: 0.01, passRate: 0.001 };
/** What is looked for: points of the pass rate, the share of answers with another path, and of a time or of tokens. */
const sought = { drop: 0.3, path: 1 / 3, share: 0.25 };
/** A change that is too small to matter: this share of the live median, and at least so many ms. */
const irrelevant = { share: 0.05, ms: 20 };

/** What is compared of an answer; undefined where there was none. */
function sampleOf(test: SmokeTest, evidence: Evidence): Sample | undefined {
  const [judged] = judgeAll(test, [evidence]);
  if (!judged || evidence.kind !== 'answered') return undefined;
  return {
    answer: judged.kind,
    firstEventMs: evidence.refused ? undefined : evidence.firstEventMs,
    totalMs: evidence.totalMs,
    nodes: evidence.nodes,
    tokens: tokensOf(evidence.values),
  };
}

/** A pair of which one has no answer says nothing of either agent. */
export function pairOf(test: SmokeTest, live: Evidence, changed: Evidence): Pair | undefined {
  const [former, latter] = [sampleOf(test, live), sampleOf(test, changed)];
  return former && latter ? { live: former, changed: latter } : undefined;
}

/** The tokens of all messages that report them. */
function tokensOf(values: unknown): number | undefined {
  const messages = isObject(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return undefined;
  const used = messages.flatMap((message: unknown) => {
    const usage = isObject(message) ? message['usage_metadata'] : undefined;
    const total = isObject(usage) ? usage['total_tokens'] : undefined;
    return typeof total === 'number' && Number.isFinite(total) ? [total] : [];
  });
  return used.length === 0 ? undefined : used.reduce((sum, each) => sum + each, 0);
}

/** One measure without the others: `isNoWorse` where what is sought is excluded. */
type Alone = Omit<Measured, 'verdict' | 'measure'> & { isNoWorse: boolean; isMeasured: boolean };

function measure(of: Measure, pairs: readonly Pair[]): Alone {
  switch (of) {
    case 'pass-rate':
      return passRate(pairs);
    case 'first-event':
      return amount(pairs, ({ firstEventMs }) => firstEventMs, irrelevant.ms);
    case 'total':
      return amount(pairs, ({ totalMs }) => totalMs, irrelevant.ms);
    case 'tokens':
      return amount(pairs, ({ tokens }) => tokens, 0);
    case 'nodes':
      return paths(pairs, ({ nodes }) => JSON.stringify([...new Set(nodes)].toSorted()));
    case 'node-order':
      return paths(pairs, ({ nodes }) => JSON.stringify(nodes));
  }
}

const notMeasured: Alone = { chance: 1, live: 0, changed: 0, isNoWorse: false, isMeasured: false };

const countsOf = (pairs: readonly Pair[], isCounted: (sample: Sample) => boolean): TwoCounts => ({
  live: pairs.filter(({ live }) => isCounted(live)).length,
  liveOf: pairs.length,
  changed: pairs.filter(({ changed }) => isCounted(changed)).length,
  changedOf: pairs.length,
});

function passRate(pairs: readonly Pair[]): Alone {
  if (pairs.length === 0) return notMeasured;
  const counts = countsOf(pairs, ({ answer }) => answer === 'right');
  return {
    chance: fewerIn(counts),
    live: counts.live,
    changed: counts.changed,
    isNoWorse: differenceInterval(counts).low > -sought.drop,
    isMeasured: true,
  };
}

/** Compares each answer with the one beside it: what the hour changes, it changes for both. */
function amount(pairs: readonly Pair[], valueOf: (sample: Sample) => number | undefined, least: number): Alone {
  const both = pairs.flatMap(({ live, changed }) => {
    const [former, latter] = [valueOf(live), valueOf(changed)];
    return former === undefined || latter === undefined ? [] : [{ former, latter }];
  });
  if (both.length === 0) return notMeasured;
  const differences = both.map(({ former, latter }) => latter - former);
  const usual = median(both.map(({ former }) => former));
  const small = Math.max(least, usual * irrelevant.share);
  const large = Math.max(2 * small, usual * sought.share);
  return {
    chance: largerThan(differences, small),
    live: usual,
    changed: usual + shiftOf(differences),
    isNoWorse:
      largerThan(
        differences.map((each) => -each),
        -large,
      ) <
      falseAlarm.suite / 3,
    isMeasured: true,
  };
}

/** Each path is compared on its own, and the most striking one counts as that of so many. */
function paths(pairs: readonly Pair[], pathOf: (sample: Sample) => string): Alone {
  const isEmpty = ({ live, changed }: Pair): boolean => live.nodes.length === 0 && changed.nodes.length === 0;
  if (pairs.every(isEmpty)) return notMeasured;
  const seen = [...new Set(pairs.flatMap(({ live, changed }) => [pathOf(live), pathOf(changed)]))];
  const counts = seen.map((path) => countsOf(pairs, (sample) => pathOf(sample) === path));
  return {
    chance: Math.min(1, seen.length * Math.min(...counts.map(differs))),
    live: new Set(pairs.map(({ live }) => pathOf(live))).size,
    changed: new Set(pairs.map(({ changed }) => pathOf(changed))).size,
    isNoWorse: counts.every((each) => {
      const { low, high } = differenceInterval(each);
      return low > -sought.path && high < sought.path;
    }),
    isMeasured: true,
  };
}

/** The verdicts on all tests of a suite, each on its own pairs. `looks` is how often each may have been looked at. */
export function compareAll(tests: readonly (readonly Pair[])[], looks: number): Measured[][] {
  const alone = tests.flatMap((pairs) => measures.map((each) => ({ measure: each, ...measure(each, pairs) })));
  const chances = alone.map(({ chance }) => Math.min(1, chance * looks));
  const alarms = holm(chances, falseAlarm.suite);
  const all = alone.map(({ isNoWorse, isMeasured, ...rest }, index): Measured => {
    const chance = chances[index] ?? 1;
    const isWorse = alarms[index] === true && (rest.measure !== 'pass-rate' || chance <= falseAlarm.passRate);
    const verdict = !isMeasured ? 'not-measured' : isWorse ? 'worse' : isNoWorse ? 'no-worse' : 'undecided';
    return { ...rest, chance, verdict };
  });
  return tests.map((_, index) => all.slice(index * measures.length, (index + 1) * measures.length));
}

/** Whether a test of so many needs no more pairs: all of it is decided, as strictly as if it were the last. */
export function isDecided(pairs: readonly Pair[], { looks, tests }: { looks: number; tests: number }): boolean {
  const strict = falseAlarm.suite / (tests * measures.length);
  return measures.every((each) => {
    const { chance, isNoWorse, isMeasured } = measure(each, pairs);
    const most = each === 'pass-rate' ? Math.min(strict, falseAlarm.passRate) : strict;
    return !isMeasured || isNoWorse || chance * looks <= most;
  });
}
