import { isPath, measureName, measureValues, pointsText } from './verdict-table/measures.ts';
import { comparedText } from './verdict-table/table.ts';
import { counted } from './verdict-table/words.ts';
import type { Comparison, Measured } from '../rules/verdict-types.ts';

/** What is expected of a measure, as a clause. */
export const expectedOf = ({ measure }: Measured): string =>
  isPath(measure) ? `${measureName(measure)}: as of the live revision` : `${measureName(measure)}: no worse than live`;

/** What was seen of a measure: `1.3 s, live 1.0 s, +300 ms (+30 %)`. */
export function seenOf(measured: Measured, { live, changed }: Comparison): string {
  if (measured.measure === 'pass-rate') {
    const points = pointsText(live.right / live.answers, changed.right / changed.answers);
    return `${changed.right} of ${changed.answers}, live ${live.right} of ${live.answers}, ${points}`;
  }
  const [former, latter, by] = measureValues(measured);
  if (measured.measure === 'answered') return `${latter} of the requests, live ${former}, ${by}`;
  return [latter, `live ${former}`, by].filter(Boolean).join(', ');
}

/** A test's comparison in a sentence: `30 of 30, live 29 of 30: no worse`, and what would decide what is open. */
export function formatComparison(comparison: Comparison): string {
  const { unreachable, measures, needed } = comparison;
  const worse = measures.some(({ verdict, decides }) => decides && verdict === 'worse');
  const open = measures.filter(({ verdict, decides }) => decides && verdict === 'undecided');
  // Where nothing is worse, the comparison names what is open itself.
  const undecided =
    worse && open.length > 0 ? [`undecided: ${open.map(({ measure }) => measureName(measure)).join(', ')}`] : [];
  const takes =
    needed === undefined
      ? []
      : needed === null
        ? ['three times as many answers like these would not decide it']
        : [`about ${needed} answers of each would decide it if the others are like these (\`tries\`)`];
  const missing = unreachable === 0 ? [] : [`${counted(unreachable, 'attempt')} brought no answer`];
  return [comparedText(comparison), ...undecided, ...takes, ...missing].join('; ');
}
