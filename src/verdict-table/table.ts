import type { VerdictReport } from '../contract/control/verdict.ts';
import { percent } from '../sequential-test.ts';
import { durationText, rateText } from './words.ts';

/** A smoke test with its verdict, as the control service is told it and keeps it. */
export type TableTest = Omit<VerdictReport['tests'][number], 'kind'> & { kind: string };

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
  kind: string;
  cells: ReadonlyMap<Column, Cell>;
}

const line = (text: string): Cell => (text === '' ? [] : [[{ text }]]);

/** The lines of a table of verdicts, in the order of their tests. */
export const tableRows = (tests: readonly TableTest[]): Row[] => tests.map(toRow);

/** The columns in which some row has something to show. */
export const shownColumns = (rows: readonly Row[]): Column[] =>
  columnNames.filter((column) => rows.some(({ cells }) => (cells.get(column)?.length ?? 0) > 0));

const isColumn = (name: string): name is Column => name in columns;
const columnNames = Object.keys(columns).filter(isColumn);

function toRow(test: TableTest): Row {
  const { name, kind, attempts, first_event_ms, total_ms, answers, right_answers } = test;
  const rate = answers == null || answers === 0 ? undefined : { answers, right: right_answers ?? 0 };
  const cells: [Column, Cell][] = [
    ['test', line(name)],
    ['verdict', line(verdictText(test))],
    ['changed', rate ? [[{ text: `${rate.right} of ${rate.answers}` }], [{ text: rateText(rate) }]] : []],
    ['attempts', line(String(attempts))],
    ['firstEvent', line(first_event_ms === null ? '' : durationText(first_event_ms))],
    ['total', line(total_ms === null ? '' : durationText(total_ms))],
    ['expectations', expectationsCell(test)],
  ];
  return { kind, cells: new Map(cells) };
}

/** `passed`, and of a rate what the answers say of the two rates that they decide between. */
function verdictText({ kind, pass_rate, low_rate }: TableTest): string {
  if (pass_rate == null || low_rate == null) return kind;
  const why = new Map([
    ['passed', `too many right for a pass rate of ${percent(low_rate)}`],
    ['failed', `too few right for a pass rate of ${percent(pass_rate)}`],
    ['unproven', `between pass rates of ${percent(pass_rate)} and ${percent(low_rate)}`],
  ]).get(kind);
  return why === undefined ? kind : `${kind}: ${why}`;
}

/** What was expected and, where it was not so, what was seen instead; of an unproven test why nothing is proven. */
function expectationsCell({ expectations, why }: TableTest): Cell {
  if (why !== null) return line(why);
  return expectations.map(({ expected, seen, held }) => [
    { text: held ? '✓ ' : '✗ ' },
    { text: expected, as: 'value' as const },
    ...(held ? [] : [{ text: ' saw ' }, { text: seen, as: 'value' as const }]),
  ]);
}
