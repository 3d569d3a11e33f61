import * as z from 'zod';
import { designTest, maxAnswers, smallestDrop, whyTooFew } from '../../kit/statistics/sequential-test.ts';
import { chosenMeasures, type Measure, type Series } from './smoke-test.ts';

const defaultDrop = 0.3;
const maxAtOnce = 16;
const defaultAtOnce = 4;
/**
 * How many answers of each agent are compared: exact tests of more would take minutes, and fewer could not show that an
 * agent is no worse.
 */
export const liveTries = { fewest: 20, most: 200, usual: 160 } as const;

/** From 1 to 100 points. */
const share = z.number().min(0.01).max(1, 'must be at most 1: write 0.9 for 90 %');

/** What a smoke test says of how often it is tried. */
export const seriesShape = {
  tries: z.int().min(1).max(maxAnswers).optional(),
  'pass-rate': z.union([share, z.literal('baseline')]).optional(),
  against: z.literal('live').optional(),
  'decide-by': z.array(z.enum(chosenMeasures)).min(1).optional(),
  drop: share.optional(),
  'max-tries': z.int().min(1).max(maxAnswers).optional(),
  'tries-at-once': z.int().min(1).max(maxAtOnce).optional(),
};
const seriesFields = z.object(seriesShape);
type WrittenSeries = z.infer<typeof seriesFields>;

/** What is wrong with a field of a series. */
interface SeriesProblem {
  key: keyof typeof seriesShape;
  message: string;
}

/** Whether the answers of the live revision are needed. */
const isAgainstLive = (test: WrittenSeries): boolean => test.against === 'live' || test['pass-rate'] === 'baseline';

/** What does not fit together in the fields of one test. */
function contradictions(written: WrittenSeries): SeriesProblem[] {
  const { tries, drop = defaultDrop, 'pass-rate': passRate, against } = written;
  const problems: SeriesProblem[] = [];
  const refuse = (key: SeriesProblem['key'], message: string): void => void problems.push({ key, message });
  if (against === undefined && written['decide-by'] !== undefined) {
    refuse('decide-by', 'is for `against: live`, which is missing here');
  }
  if (isAgainstLive(written)) {
    if (against !== undefined && passRate !== undefined) {
      refuse('pass-rate', 'has no meaning beside `against: live`, which takes the pass rate of the live revision');
    }
    if (written['max-tries'] !== undefined) refuse('max-tries', 'is for a `pass-rate` that is a number: write `tries`');
    if (tries !== undefined && (tries < liveTries.fewest || tries > liveTries.most))
      refuse('tries', `is ${liveTries.fewest} to ${liveTries.most} against live`);
    return problems;
  }
  if (passRate === undefined) {
    for (const key of ['drop', 'max-tries'] as const) {
      if (written[key] !== undefined) refuse(key, 'is for a `pass-rate`, which is missing here');
    }
    if (tries === undefined && written['tries-at-once'] !== undefined) {
      refuse('tries-at-once', 'is for `tries` or a `pass-rate`, which are missing here');
    }
    return problems;
  }
  if (tries !== undefined) refuse('tries', 'has no meaning beside a `pass-rate`: write `max-tries` to limit it');
  if (typeof passRate === 'number' && drop >= passRate)
    refuse(
      written.drop === undefined ? 'pass-rate' : 'drop',
      `must leave a pass rate above 0, and a drop of ${drop} from ${passRate} does not`,
    );
  return problems;
}

/** Other nodes may be meant. */
const decidesByDefault: readonly Measure[] = ['pass-rate', 'first-event', 'total', 'tokens', 'cost'];

/** How often a test is tried, and what is wrong with that. */
interface ReadSeries {
  series?: Series;
  problems: readonly SeriesProblem[];
}

/**
 * How often each test of a deployment is tried, whatever else is wrong with it. A field that is not valid by itself is
 * no problem here.
 */
export function readSeries(tests: readonly unknown[]): ReadSeries[] {
  const written = tests.map((test) => seriesFields.safeParse(test).data);
  // Those that share the errors of one suite.
  const sharing = written.filter((test) => test && (test['pass-rate'] !== undefined || isAgainstLive(test))).length;
  const designs = new Map<string, ReadSeries>();
  let isSearched = false;
  const search = (hypotheses: Parameters<typeof smallestDrop>[0]): number | undefined => {
    // It takes a tenth of a second, which is not spent for each of many tests.
    if (isSearched) return undefined;
    isSearched = true;
    return smallestDrop(hypotheses);
  };
  return written.map((test): ReadSeries => {
    if (!test) return { problems: [] };
    const problems = contradictions(test);
    if (problems.length > 0) return { problems };
    // The fields of many tests are the same, and a design takes some milliseconds.
    const id = JSON.stringify(test);
    const read = designs.get(id) ?? designSeries(test, sharing, search);
    designs.set(id, read);
    return read;
  });
}

/** How often a test is tried; the problem of one that can't come to a verdict. */
function designSeries(
  { tries, drop = defaultDrop, ...written }: WrittenSeries,
  tests: number,
  search: typeof smallestDrop,
): ReadSeries {
  const atOnce = written['tries-at-once'] ?? defaultAtOnce;
  const passRate = written['pass-rate'];
  const problems: SeriesProblem[] = [];
  if (isAgainstLive(written)) {
    const decideBy = passRate === 'baseline' ? (['pass-rate'] as const) : (written['decide-by'] ?? decidesByDefault);
    const isUsual = passRate !== 'baseline' && written['decide-by'] === undefined ? ({ isUsual: true } as const) : {};
    return {
      series: { kind: 'live', tries: tries ?? liveTries.usual, drop, decideBy, ...isUsual, tests, atOnce },
      problems,
    };
  }
  if (passRate === undefined || passRate === 'baseline')
    return { ...(tries === undefined ? {} : { series: { kind: 'all-right', tries, atOnce } }), problems };
  const hypotheses = { passRate, drop, tests };
  const boundaries = designTest(hypotheses, written['max-tries']);
  if (!boundaries) {
    const least = search(hypotheses);
    const message = `must be ${least === undefined ? 'larger' : `at least ${least}`} to be found with ${maxAnswers} answers; or write \`max-tries\`, and accept a worse chance`;
    return { problems: [{ key: 'drop', message }] };
  }
  const message = whyTooFew(boundaries, hypotheses, boundaries.maxTries);
  if (message !== undefined) return { problems: [{ key: 'max-tries', message }] };
  return { series: { kind: 'rate', ...hypotheses, boundaries, atOnce }, problems };
}
