import { cutText } from '../../kit/plain-text.ts';
import { counted } from './verdict-table/words.ts';
import type { Advice, Evidence, ExpectationResult } from '../rules/verdict-types.ts';

// Advice on several answers: a verdict shows that on one of them, and how many the others are.

/** The advice on one answer: whether each thing that only advises held, or null where its model did not say. */
export const adviceOf = (held: readonly ExpectationResult[]): Advice =>
  held.flatMap((each) => (each.advises ? [each.ungraded ? null : each.held] : []));

interface Advised {
  advice: Advice;
}

/** The results of one answer, whose advice says how many answers it held of: of the agent, and of the live one. */
export function withCounts(
  held: readonly ExpectationResult[],
  answers: readonly Advised[],
  live: readonly Advised[] = [],
): ExpectationResult[] {
  let index = -1;
  return held.map((each) => {
    if (!each.advises) return each;
    index += 1;
    const counts = [countOf(answers, index), ...(live.length > 0 ? [`live ${countOf(live, index)}`] : [])];
    return { ...each, expected: `${each.expected} (${counts.join(', ')})` };
  });
}

function countOf(answers: readonly Advised[], index: number): string {
  const said = answers.map(({ advice }) => advice[index] ?? null).filter((each) => each !== null);
  return `${said.filter(Boolean).length} of ${said.length}`;
}

/** That the model's provider failed in some attempts, which nothing follows from. */
export function providerAdvice(attempts: readonly Evidence[]): ExpectationResult[] {
  const failed = attempts.flatMap((each) => (each.kind === 'unreachable' && each.fault === 'provider' ? [each] : []));
  const last = failed.at(-1);
  if (!last) return [];
  const seen = `${counted(failed.length, 'attempt')} without an answer: ${last.why}`;
  const expected = "the model's provider answers";
  return [{ expectation: { kind: 'provider' }, expected, seen: cutText(seen, 300), held: false, advises: true }];
}
