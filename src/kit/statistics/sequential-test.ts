/**
 * A sequential test of a pass rate: it ends at the first count of wrong answers that reaches one of two straight
 * lines, Wald's test with exact error rates. `passed`: wrong <= slope * tries - passesAt.
 * `failed`: wrong >= slope * tries + failsAt.
 */
export interface SequentialTest {
  slope: number;
  failsAt: number;
  passesAt: number;
  /** After this many tries without a verdict nothing is proven. */
  maxTries: number;
}

/** "At least `passRate`" against "at most `passRate - drop`", both from 0 to 1, as one of `tests` in a suite. */
export interface RateHypotheses {
  passRate: number;
  drop: number;
  tests: number;
}

/** The most tries of one test, which ends what would never be paid for. */
export const maxAnswers = 1_000;

/** The errors of one test, of all tests of a suite together, and where the true rate is a little below `passRate`. */
const falseFailed = { test: 0.001, suite: 0.01, nearby: 0.01 };
/** Below the 1 % that is stated: a drop that ends unproven is not found either. */
const falsePassed = 0.006;
const found = 0.99;
/** How far the true rate may be below `passRate` while a false `failed` stays rare: 5 points of a drop of 30. */
const nearby = (drop: number): number => Math.min(0.05, drop / 6);

/** The test of these hypotheses, by default with as many tries as find the drop with 99 %; undefined if too few. */
export function designTest(hypotheses: RateHypotheses, maxTries?: number): SequentialTest | undefined {
  const { passRate, drop, tests } = hypotheses;
  const low = passRate - drop;
  const near = passRate - nearby(drop);
  // Of the likelihood ratio between the two rates: what one right and one wrong answer add to it.
  const right = Math.log(near / low);
  const wrong = Math.log((1 - low) / (1 - near));
  const lines = { slope: right / (right + wrong), passesAt: Math.log(1 / falsePassed) / (right + wrong) };
  const most = Math.min(falseFailed.test, falseFailed.suite / tests);
  const holds = (failsAt: number): boolean => {
    const whole = { ...lines, failsAt, maxTries: maxAnswers };
    return exactRates(whole, passRate).failed <= most && exactRates(whole, near).failed <= falseFailed.nearby;
  };
  // Wald's bound, which is too large by what the last answer goes beyond it.
  const test = { ...lines, failsAt: smallest(holds, Math.log(1 / most) / (right + wrong)) };
  if (maxTries !== undefined) return { ...test, maxTries };
  const enough = failedAfter({ ...test, maxTries: maxAnswers }, low).findIndex((share) => share >= found);
  return enough === -1 ? undefined : { ...test, maxTries: enough + 1 };
}

/** The smallest drop that a test without `maxTries` can find, in hundredths; undefined where there is none. */
export function smallestDrop(hypotheses: Omit<RateHypotheses, 'drop'>): number | undefined {
  const isFound = (points: number): boolean => designTest({ ...hypotheses, drop: points / 100 }) !== undefined;
  let [low, high] = [0, Math.ceil(hypotheses.passRate * 100) - 1];
  if (high < 1 || !isFound(high)) return undefined;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isFound(middle)) high = middle;
    else low = middle;
  }
  return high / 100;
}

/** The smallest number from 0 to `most` for which it holds, to a hundredth; it holds for all above. */
function smallest(holds: (value: number) => boolean, most: number): number {
  let [low, high] = [0, most];
  while (high - low > 0.01) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The most wrong answers of so many with which a test passes, and the fewest with which it fails. */
const boundariesAfter = ({ slope, failsAt, passesAt }: SequentialTest, tries: number) => ({
  passes: Math.floor(slope * tries - passesAt),
  fails: Math.ceil(slope * tries + failsAt),
});

/** What so many right and wrong answers mean, counted in the order of their requests. */
export function decide(
  test: SequentialTest,
  { right, wrong }: { right: number; wrong: number },
): 'passed' | 'failed' | 'unproven' | 'continue' {
  const tries = right + wrong;
  const { passes, fails } = boundariesAfter(test, tries);
  if (wrong >= fails) return 'failed';
  if (wrong <= passes) return 'passed';
  return tries >= test.maxTries ? 'unproven' : 'continue';
}

/** How often a test ends how, and after how many tries on average. */
export interface ExactRates {
  passed: number;
  failed: number;
  unproven: number;
  meanTries: number;
}

/** What a test finds where the true pass rate is this, computed exactly and not simulated. */
export function exactRates(test: SequentialTest, passRate: number): ExactRates {
  const rates = { passed: 0, failed: 0, unproven: 0, meanTries: 0 };
  for (const { ended, going } of tryByTry(test, passRate)) {
    for (const kind of ['passed', 'failed', 'unproven'] as const) rates[kind] += ended[kind];
    rates.meanTries += going;
  }
  return rates;
}

function failedAfter(test: SequentialTest, passRate: number): number[] {
  let share = 0;
  return Array.from(tryByTry(test, passRate), ({ ended }) => (share += ended.failed));
}

/** All that is left out of the exact rates is far below what they are rounded to. */
const negligible = 1e-12;

/** For each try the probability that it is made, and those that the test ends with it. */
function* tryByTry(
  test: SequentialTest,
  passRate: number,
): Generator<{ going: number; ended: Pick<ExactRates, 'passed' | 'failed' | 'unproven'> }> {
  // The probability of each count of wrong answers with which the test goes on, from `fewest` wrong ones.
  let probabilities = [1];
  let fewest = 0;
  for (let tries = 1; tries <= test.maxTries; tries += 1) {
    const { passes, fails } = boundariesAfter(test, tries);
    const ended = { passed: 0, failed: 0, unproven: 0 };
    const next: number[] = [];
    let going = 0;
    const nextFewest = Math.max(fewest, passes + 1);
    for (let index = 0; index <= probabilities.length; index += 1) {
      const wrong = fewest + index;
      const [same = 0, oneLess = 0] = [probabilities[index], probabilities[index - 1]];
      const probability = same * passRate + oneLess * (1 - passRate);
      going += same;
      if (wrong >= fails) ended.failed += probability;
      else if (wrong <= passes) ended.passed += probability;
      else next.push(probability);
    }
    if (tries === test.maxTries) ended.unproven = next.reduce((sum, each) => sum + each, 0);
    yield { going, ended };
    if (going < negligible) return;
    probabilities = next;
    fewest = nextFewest;
  }
}

/** The fewest tries in which a test can pass, and those in which it can fail. */
export function fewestTries({ slope, failsAt, passesAt }: SequentialTest): { passed: number; failed: number } {
  return { passed: Math.ceil(passesAt / slope), failed: Math.ceil(failsAt / (1 - slope)) };
}

/** Why so many answers could never prove anything, as what must be of their number; undefined where they could. */
export function whyTooFew(test: SequentialTest, hypotheses: RateHypotheses, answers: number): string | undefined {
  const { passed, failed } = fewestTries(test);
  if (answers >= Math.max(passed, failed)) return undefined;
  const enough = designTest(hypotheses)?.maxTries;
  return `must allow a verdict, which takes at least ${passed} answers to pass and ${failed} to fail.${enough ? ` ${enough} find this drop with 99 %.` : ''}`;
}

/** With how many more answers the test can end at the earliest, at least 1: fewer requests at once answer none in vain. */
export function fewestMore(
  { slope, failsAt, passesAt, maxTries }: SequentialTest,
  { right, wrong }: { right: number; wrong: number },
): number {
  const tries = right + wrong;
  const toPass = (wrong + passesAt) / slope - tries;
  const toFail = (slope * tries + failsAt - wrong) / (1 - slope);
  return Math.max(1, Math.ceil(Math.min(toPass, toFail, maxTries - tries)));
}

/** The interval of a rate (Wilson's), from 0 to 1; without `z` that of 95 %. */
export function interval(right: number, tries: number, z = 1.96): { low: number; high: number } {
  const rate = right / tries;
  const scale = 1 + z ** 2 / tries;
  const middle = (rate + z ** 2 / (2 * tries)) / scale;
  const half = (z / scale) * Math.sqrt((rate * (1 - rate)) / tries + z ** 2 / (4 * tries ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** A share in words: `93.3 %`. */
export const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** How many answers were right, and the two rates that they decide between, from 0 to 1. */
export interface ObservedRate {
  right: number;
  answers: number;
  passRate?: number;
  /** `passRate` without the drop that is looked for. */
  lowRate?: number;
}

/** What a verdict says of the two rates that were tested. */
export function formatDecision(kind: 'passed' | 'failed' | 'unproven', rate: ObservedRate): string {
  const { passRate, lowRate } = rate;
  if (passRate === undefined || lowRate === undefined) return formatRate(rate);
  const decided = {
    passed: `too many for a pass rate of ${percent(lowRate)}`,
    failed: `too few for a pass rate of ${percent(passRate)}`,
    unproven: `which neither a pass rate of ${percent(passRate)} nor one of ${percent(lowRate)} explains alone`,
  };
  return `${formatRate(rate)}, ${decided[kind]}`;
}

/** A count in words, with the interval of the rate: "28 of 30 answers were right (93.3 %, likely 78.7 to 98.2 %)". */
export function formatRate({ right, answers }: Pick<ObservedRate, 'right' | 'answers'>): string {
  if (answers === 0) return 'no answer could be counted';
  const { low, high } = interval(right, answers);
  const likely = `${percent(low).replace(' %', '')} to ${percent(high)}`;
  return `${right} of ${answers} ${answers === 1 ? 'answer was' : 'answers were'} right (${percent(right / answers)}, likely ${likely})`;
}
