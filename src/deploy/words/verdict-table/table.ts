import type { VerdictReport } from '../../../contract/control/verdict.ts';
import { percent } from '../../../kit/statistics/sequential-test.ts';
import { latencyPlots } from './latency-plot.ts';
import { measureName, measureValues, measureVerdict, pointsText, type MeasureResult } from './measures.ts';
import { durationText, rateText, type RightAnswers } from './words.ts';

/** A test's comparison with the live revision: the right answers of both, all measures, and the times of the answers. */
export interface TableComparison {
  live: RightAnswers;
  changed: RightAnswers;
  measures: readonly MeasureResult[];
  times: { live: readonly number[]; changed: readonly number[] };
}

/** A smoke test with its verdict, as it is reported to the control service. */
export type TableTest = Omit<VerdictReport['tests'][number], 'kind'> & { kind: string };

function toTableComparison({ comparison }: TableTest): TableComparison | undefined {
  if (!comparison) return undefined;
  const { answers, right_answers: right, measures, times_ms: times } = comparison;
  return {
    live: { right: right.live, answers: answers.live },
    changed: { right: right.new, answers: answers.new },
    measures: measures.map(({ new: changed, ...measured }) => ({ ...measured, changed })),
    times: { live: times.live, changed: times.new },
  };
}

/** The columns that a table of verdicts may have, in their order. */
const columns = {
  test: 'test',
  verdict: 'verdict',
  live: 'live',
  changed: 'new',
  change: 'change',
  latency: 'time of an answer',
  cost: 'cost',
  attempts: 'attempts',
  firstEvent: 'first event',
  total: 'total',
  expectations: 'what was expected and seen',
} as const;
export type Column = keyof typeof columns;

/** The title of a column. */
export const titleOf = (column: Column): string => columns[column];

/** Text in a cell; `as` says that it is no sentence of ours but a value or a plot, or that it is what is worse. */
export interface Piece {
  text: string;
  as?: 'value' | 'plot' | 'worse';
}
/** The lines of a cell. */
export type Cell = readonly (readonly Piece[])[];

/** The line of one test; a column that it lacks has nothing to show. */
export interface Row {
  /** Of the verdict, whose cell says more where there is more to say. */
  kind: string;
  cells: ReadonlyMap<Column, Cell>;
}

const line = (text: string): Cell => (text === '' ? [] : [[{ text }]]);

/** The lines of a table of verdicts, in the order of their tests. */
export const tableRows = (tests: readonly TableTest[]): Row[] => tests.map(toRow);

/** The columns in which some row has something to show; the kind of a verdict is always there. */
export const shownColumns = (rows: readonly Row[]): Column[] =>
  columnNames.filter((column) => column === 'verdict' || rows.some(({ cells }) => cells.get(column)?.length));

const isColumn = (name: string): name is Column => name in columns;
const columnNames = Object.keys(columns).filter(isColumn);

function toRow(test: TableTest): Row {
  const { name, kind, attempts, first_event_ms, total_ms, answers, right_answers } = test;
  const compared = toTableComparison(test);
  const counted = answers == null ? undefined : { answers, right: right_answers ?? 0 };
  const cells: [Column, Cell][] = [
    ['test', line(name)],
    ['verdict', line(verdictText(test, compared))],
    ['live', rateCell(compared?.live)],
    ['changed', rateCell(compared?.changed ?? counted)],
    ['change', compared ? changeCell(compared) : []],
    ['latency', compared ? latencyCell(compared) : []],
    ['cost', compared ? costCell(compared) : []],
    ['attempts', line(String(attempts))],
    ['firstEvent', line(first_event_ms === null ? '' : durationText(first_event_ms))],
    ['total', line(total_ms === null ? '' : durationText(total_ms))],
    ['expectations', expectationsCell(test)],
  ];
  return { kind, cells: new Map(cells) };
}

/** `28 of 30`, and the share with its likely range. */
const rateCell = (counted: RightAnswers | undefined): Cell =>
  counted === undefined || counted.answers === 0
    ? []
    : [[{ text: `${counted.right} of ${counted.answers}` }], [{ text: rateText(counted) }]];

const isMeasured = ({ verdict }: MeasureResult): boolean => verdict !== 'not-measured';

/** That all requests were answered is no news. */
const isAllAnswered = ({ measure, live, changed }: MeasureResult): boolean =>
  measure === 'answered' && live === 1 && changed === 1;

/** How far each measure of the new revision is from the live one; what is worse stands out. */
function changeCell({ live, changed, measures }: TableComparison): Cell {
  const shown = measures.filter((each) => isMeasured(each) && !isAllAnswered(each));
  return shown.map((measure): Piece[] => {
    const as = measure.verdict === 'worse' ? ({ as: 'worse' } as const) : {};
    if (measure.measure === 'pass-rate') {
      return [{ text: pointsText(live.right / live.answers, changed.right / changed.answers), ...as }];
    }
    const [, , by] = measureValues(measure);
    return [{ text: `${measureName(measure.measure)} ${by === '' ? measureVerdict(measure) : by}`, ...as }];
  });
}

function latencyCell({ times }: TableComparison): Cell {
  const plots = latencyPlots(times.live, times.changed);
  if (!plots) return [];
  return [
    ...plots.lines.map(({ name, plot, median }): Piece[] => [
      { text: plot, as: 'plot' },
      { text: ` ${name} ${median}` },
    ]),
    [{ text: plots.scale }],
  ];
}

function costCell({ measures }: TableComparison): Cell {
  const cost = measures.find(({ measure }) => measure === 'cost');
  if (!cost || !isMeasured(cost)) return [];
  const [live, changed] = measureValues(cost);
  return [[{ text: `${live} → ${changed}` }]];
}

/** What the counted answers say of the two rates that they decide between; nothing of a test of one answer. */
function verdictText({ kind, pass_rate, low_rate }: TableTest, compared: TableComparison | undefined): string {
  if (compared) return comparedText(compared);
  if (pass_rate == null || low_rate == null) return '';
  if (kind === 'passed') return `too many right for a pass rate of ${percent(low_rate)}`;
  if (kind === 'failed') return `too few right for a pass rate of ${percent(pass_rate)}`;
  return `between pass rates of ${percent(pass_rate)} and ${percent(low_rate)}`;
}

/** `30 of 30, live 29 of 30: no worse` */
export function comparedText({ live, changed, measures }: Omit<TableComparison, 'times'>): string {
  const named = (verdict: string, counts: boolean): string =>
    measures
      .filter((each) => each.verdict === verdict && (each.decides ?? true) === counts)
      .map((each) => measureName(each.measure))
      .join(', ');
  const [worse, undecided, advice] = [named('worse', true), named('undecided', true), named('worse', false)];
  if (worse === '' && (live.answers === 0 || changed.answers === 0)) return 'there are no answers of both to compare';
  const decided = worse !== '' ? `worse by ${worse}` : undecided !== '' ? `undecided by ${undecided}` : 'no worse';
  return `${changed.right} of ${changed.answers}, live ${live.right} of ${live.answers}: ${decided}${advice && `; changed, which does not decide: ${advice}`}`;
}

/** What was expected and, where it was not so, what was seen instead; of an unproven test why nothing is proven. */
function expectationsCell({ expectations, why }: TableTest): Cell {
  if (why !== null) return line(why);
  return expectations.map(({ expected, seen, held, advises }) => [
    { text: `${held ? '✓' : '✗'} ${advises ? 'advice: ' : ''}` },
    { text: expected, as: 'value' as const },
    ...(held ? [] : [{ text: ' saw ' }, { text: seen, as: 'value' as const }]),
  ]);
}
