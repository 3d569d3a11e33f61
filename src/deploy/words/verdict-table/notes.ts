import { measureName } from './measures.ts';
import type { TableTest } from './table.ts';
import { counted } from './words.ts';

/** `a`, `a and b`, `a, b and c` */
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/**
 * What a table of verdicts does not say of its tests against the live revision: which measures decided, which only
 * advise, what was not reached, and when the live revision answered. Of an unproven test its row says what it would take.
 */
export function tableNotes(tests: readonly TableTest[]): string[] {
  const compared = tests.flatMap(({ name, kind, comparison }) => (comparison ? [{ name, kind, comparison }] : []));
  const grouped = Map.groupBy(compared, ({ comparison }) => whatDecides(comparison));
  const decided = [...grouped].flatMap(([sentence, of]) => {
    const names = grouped.size === 1 ? '' : `${listed(of.map(({ name }) => name))}: `;
    return sentence === '' ? [] : [`${names}${sentence}`];
  });
  const open = compared.flatMap(({ name, kind, comparison: { measures, unreachable } }) => {
    const undecided = measures
      .filter(({ verdict }) => verdict === 'undecided')
      .map(({ measure }) => measureName(measure));
    const notes = [
      kind === 'unproven' || undecided.length === 0 ? '' : `not decided: ${listed(undecided)}`,
      kind === 'unproven' || unreachable === 0 ? '' : `${counted(unreachable, 'attempt')} brought no answer`,
    ].filter(Boolean);
    return notes.length === 0 ? [] : [`${name}: ${notes.join('; ')}.`];
  });
  return [...decided, ...open];
}

type Comparison = NonNullable<TableTest['comparison']>;

function whatDecides({ measures, beside }: Comparison): string {
  const measured = measures.filter(({ verdict }) => verdict !== 'not-measured');
  const named = (isDecisive: boolean): string =>
    listed(measured.filter(({ decides }) => decides === isDecisive).map(({ measure }) => measureName(measure)));
  const [decisive, advice] = [named(true), named(false)];
  if (decisive === '') return '';
  const when = beside ? '' : ' The live revision answered before the new one, and not beside it.';
  return `Decided by ${decisive}.${advice && ` Only advice: ${advice}.`}${when}`;
}
