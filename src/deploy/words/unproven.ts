import {
  designTest,
  fewestMore,
  formatDecision,
  formatRate,
  type ObservedRate,
} from '../../kit/statistics/sequential-test.ts';
import type { RunError } from '../../contract/agent/run.ts';
import type { Series } from '../file/smoke-test.ts';
import type { JudgedAttempt } from '../rules/judge.ts';
import type { Comparison, Evidence } from '../rules/verdict-types.ts';
import { formatComparison } from './format-comparison.ts';
import type { TextFormatter } from './format-expectation.ts';
import { counted } from './verdict-table/words.ts';

// Why tests prove nothing, as clauses: a verdict is stored and reported with them.

export const whyReplaced = (active: string | null): string =>
  `${active === null ? 'it stopped serving' : `revision ${active} replaced it`} before its smoke tests ended`;

/** Why nothing is proven where no answer came. */
export function whyUnanswered(attempts: readonly Evidence[], words: TextFormatter): string {
  const last = attempts.at(-1);
  if (last?.kind !== 'unreachable') return last ? 'the answer is not graded' : 'no request was sent';
  if (last.denied) return `the caller is refused: ${words.text(last.why)}`;
  const often = attempts.length === 1 ? 'in one attempt' : `in ${attempts.length} attempts`;
  if (last.ungraded) return `the answer is not graded ${often}: ${words.text(last.why)}`;
  return `no answer ${often}: ${words.text(last.why)}`;
}

/** Why nothing is proven where some answers were right and some were not. */
export function whyContradicting(answers: number, against: readonly JudgedAttempt[]): string {
  const missed = against.at(-1)?.held.find(({ held, advises }) => !held && !advises);
  const what = missed ? `: ${missed.expected}, but once it was ${missed.seen}` : '';
  return `${against.length} of ${answers} answers ${against.length === 1 ? 'was' : 'were'} wrong and the ${answers - against.length === 1 ? 'other' : 'others'} right${what}`;
}

/** Why no answer came of a run that the model's provider failed. */
export const whyProviderFailed = ({ error, message }: RunError): string =>
  `the model's provider failed: ${error}: ${message}`;

/** Why a series proves nothing that ended without answers. */
export const whySilent = (attempts: number, why: string): string =>
  `the last ${counted(attempts, 'attempt')} brought no answer: ${why}`;

/** Why a series proves nothing of which too many answers are missing. */
export const whyMissing = (rate: ObservedRate, missing: number, requests: number): string =>
  `${formatRate(rate)}, but ${missing} of ${requests} requests brought no answer`;

/** Why a series of answers is not decided; `silence` says why it ended. */
export function whyUndecided(
  series: Exclude<Series, { kind: 'live' }>,
  rate: ObservedRate,
  silence: string | undefined,
): string {
  if (silence !== undefined) return `${formatRate(rate)}; ${silence}`;
  const seen = formatDecision('unproven', rate);
  if (series.kind === 'rate') return `${seen}; ${answersToDecide(series, rate)}`;
  return rate.right === rate.answers
    ? `${seen}, and ${counted(series.tries, 'answer is', 'answers are')} needed`
    : `${seen}: with a \`pass-rate\` the test decides how many wrong ones are too many`;
}

/** What it would take to decide, as a clause. */
function answersToDecide(series: Extract<Series, { kind: 'rate' }>, { right, answers }: ObservedRate): string {
  const { boundaries } = series;
  if (answers >= boundaries.maxTries) {
    const enough = designTest(series)?.maxTries ?? 0;
    if (boundaries.maxTries < enough) return `\`max-tries: ${enough}\` finds the drop with 99 %`;
  }
  const fewest = fewestMore({ ...boundaries, maxTries: Infinity }, { right, wrong: answers - right });
  return `a verdict takes at least ${counted(fewest, 'more answer')}`;
}

export const answersSoFar = (answers: number): string => `${counted(answers, 'answer')} of each agent so far`;

/** Why a comparison proves nothing although there were answers. */
export const whyUseless = (comparison: Comparison, isNoneRight: boolean): string =>
  `${formatComparison(comparison)}, but ${isNoneRight ? 'neither has given one right answer' : 'nothing that decides was measured'}`;
