import { designTest, exactRates, percent, whyTooFew } from '../../kit/statistics/sequential-test.ts';
import { looksOf } from '../rules/compare.ts';
import type { Series, SmokeTest } from '../file/smoke-test.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import { counted } from './verdict-table/words.ts';

/** Why so many answers could never prove anything of the pass rate of a test; undefined where they could. */
export function whyTooFewAnswers({ name, series }: SmokeTest, answers: number): string | undefined {
  const why = series?.kind === 'rate' ? whyTooFew(series.boundaries, series, answers) : undefined;
  return why && `tries of the smoke test ${name} ${why}`;
}

/** What a series costs and finds, as a clause. */
export function describeSeries(series: Series): string {
  if (series.kind === 'all-right') return `needs ${counted(series.tries, 'right answer')}`;
  if (series.kind === 'live') {
    const [fewest = series.tries] = looksOf(series.tries);
    const answers = fewest < series.tries ? `${fewest} to ${series.tries}` : series.tries;
    return `compares ${answers} answers with as many of the live revision`;
  }
  const { passRate, drop, boundaries } = series;
  const dropped = exactRates(boundaries, passRate - drop);
  const answers = Math.round(exactRates(boundaries, passRate).meanTries);
  const points = Number((drop * 100).toFixed(1));
  const chance = percent(dropped.failed);
  const enough = designTest(series)?.maxTries ?? 0;
  const more = boundaries.maxTries < enough ? `; with \`max-tries: ${enough}\` it finds it with 99 %` : '';
  return `finds a drop of ${points} points with ${chance}, about ${answers} answers, at most ${boundaries.maxTries}${more}`;
}

/** What trying conversations costs, as a clause for people. */
export const describeConversations = ({ newest }: Pick<ConversationTerms, 'newest'>): string =>
  newest === 1
    ? 'tries the newest one: a copy and one or two runs, and at most 3 copies and 6 runs where a run fails'
    : `tries up to ${newest}: a copy of each with one or two runs, and at most ${3 * newest} copies and ${6 * newest} runs where runs fail`;
