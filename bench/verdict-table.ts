// The figures of a smoke test with a pass rate that docs/verdicts.md has: computed exactly. `verdicts.ts` simulates them.
import { designTest, exactRates, type SequentialTest } from '../src/kit/statistics/sequential-test.ts';

/** A good agent is right in `passRate` of its answers, and one to find in `dropped`. */
export const usual = { passRate: 0.9, dropped: 0.6, nearby: 0.85 };
/** Between the two rates of the usual test. */
const between = 0.75;
/** The answers of the test to which it is compared. */
export const fixedTries = 40;

/** The test that finds a drop from the usual pass rate. */
export function testOf(drop: number): SequentialTest {
  const made = designTest({ passRate: usual.passRate, drop, tests: 1 });
  if (!made) throw new Error(`no test finds a drop of ${drop}`);
  return made;
}

/** The chance of at least so many wrong answers of `tries`. */
function atLeast(wrong: number, tries: number, rate: number): number {
  let [sum, term] = [0, rate ** tries];
  for (let count = 0; count <= tries; count += 1) {
    if (count >= wrong) sum += term;
    term *= ((tries - count) / (count + 1)) * ((1 - rate) / rate);
  }
  return sum;
}

/** How often a test of so many answers fails an agent of this pass rate, which `wrong` wrong ones make it do. */
interface FixedTest {
  tries: number;
  wrong: number;
}
export const fixedFails = ({ tries, wrong }: FixedTest, rate: number): number => atLeast(wrong, tries, rate);

/** The test of a fixed number of tries that finds most and keeps the same bound on a false `failed`. */
export function fixedTest(boundaries: SequentialTest): FixedTest {
  const mostFalse = Math.max(exactRates(boundaries, usual.passRate).failed, 0.001);
  let wrong = 0;
  while (atLeast(wrong, fixedTries, usual.passRate) > mostFalse) wrong += 1;
  return { tries: fixedTries, wrong };
}

/** A share with two digits that mean something, beyond 99 % with two decimals: `0.056 %`, `34 %`, `99.05 %`. */
const share = (part: number): string => {
  const percents = part * 100;
  return `${Number(percents > 99 ? percents.toFixed(2) : percents.toPrecision(2))} %`;
};
const mean = (tries: number): string => tries.toFixed(1);
const table = (rows: readonly (readonly string[])[]): string => rows.map((row) => `| ${row.join(' | ')} |`).join('\n');

/** The tables of the page, in Markdown. */
export function verdictTables(): { rates: string; tests: string } {
  const boundaries = testOf(usual.passRate - usual.dropped);
  const at = (rate: number) => exactRates(boundaries, rate);
  const [good, nearby, middle, dropped] = [at(usual.passRate), at(usual.nearby), at(between), at(usual.dropped)];
  const fixed = fixedTest(boundaries);
  const twoOfThree = { tries: 3, wrong: 2 };
  const sequential = (drop: number): string[] => {
    const made = testOf(drop);
    const [alike, worse] = [exactRates(made, usual.passRate), exactRates(made, usual.passRate - drop)];
    const answers = `${mean(alike.meanTries)} (good) or ${mean(worse.meanTries)} (worse) on average, at most ${made.maxTries}`;
    return [
      `a drop of ${Math.round(drop * 100)} points`,
      `\`drop: ${drop}\``,
      share(alike.failed),
      share(worse.failed),
      answers,
    ];
  };
  const ofFixed = (name: string, of: FixedTest): string[] => [
    'a drop of 30 points',
    name,
    share(fixedFails(of, usual.passRate)),
    share(fixedFails(of, usual.dropped)),
    `${of.tries}`,
  ];
  return {
    rates: table([
      ['the agent is really right in', 'verdict', 'how often', 'answers needed'],
      ['---', '---', '---', '---'],
      [
        '90 %: as good as the file says',
        '`failed`',
        `${share(good.failed)} (≤ 0.1)`,
        `${mean(good.meanTries)} on average`,
      ],
      [
        '85 %: the file is wrong by 5 points',
        '`failed`',
        `${share(nearby.failed)} (≤ 1)`,
        `${mean(nearby.meanTries)} on average`,
      ],
      ['75 %: between the two', '`failed`', share(middle.failed), `${mean(middle.meanTries)} on average`],
      ['75 %: between the two', '`passed`', share(middle.passed), ''],
      ['75 %: between the two', '`unproven`', share(middle.unproven), ''],
      [
        '60 %: it has lost 30 points',
        '`failed`',
        `${share(dropped.failed)} (≥ 99)`,
        `${mean(dropped.meanTries)} on average`,
      ],
      ['60 %: it has lost 30 points', '`passed`', `${share(dropped.passed)} (≤ 1)`, ''],
    ]),
    tests: table([
      ['what is looked for', 'by', 'a good agent fails', 'it is found', 'answers'],
      ['---', '---', '---', '---', '---'],
      ...[usual.passRate - usual.dropped, 0.2, 0.1].map((drop) => sequential(Number(drop.toFixed(2)))),
      ofFixed(`the best test of ${fixedTries} answers`, fixed),
      ofFixed('two of three answers must be right', twoOfThree),
    ]),
  };
}
