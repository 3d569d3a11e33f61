import { asLine } from '../../deploy/words/sanitize.ts';

/** What a field of a list may hold in JSON. */
export type FieldValue = string | number | boolean | null | readonly string[];

/** A field of the rows of a list: in the JSON by its name, in the table under its heading. */
export interface Column<Row> {
  field: string;
  /** Absent: the field is only in the JSON. */
  heading?: string;
  value: (row: Row) => FieldValue;
  /** What the table shows; the value by default. */
  text?: (row: Row, now: number) => string;
  /** How a narrow terminal is served: columns are left out in this order, the lowest first. */
  leftOut?: number;
  /** Whether a narrow terminal may cut it. */
  isCut?: boolean;
}

/** The form of a table. */
export interface TableForm {
  /** The columns of the terminal; undefined where the output is no terminal: nothing is cut then. */
  width: number | undefined;
  /** The present (ms), for ages. */
  now: number;
}

/** The rows as the JSON has them. */
export const jsonRows = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Record<string, FieldValue>[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ field, value }) => [field, value(row)])));

const gap = '  ';
const minCutWidth = 12;

/** The rows as lines below their headings, within the width of the terminal. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width = Infinity, now }: TableForm,
): string[] {
  let shown = columns
    .filter(({ heading }) => heading !== undefined)
    .map((column) => {
      const cells = rows.map((row) => cellText(column, row, now));
      const heading = column.heading ?? '';
      return { ...column, cells: [heading, ...cells], width: longest([heading, ...cells]) };
    })
    // An empty column says nothing.
    .filter(({ cells }) => rows.length === 0 || cells.slice(1).some((cell) => cell !== ''));
  const excess = (): number =>
    shown.reduce((sum, column) => sum + column.width, (shown.length - 1) * gap.length) - width;
  for (const column of shown.filter(({ isCut = false }) => isCut)) {
    const cut = Math.max(0, Math.min(excess(), column.width - minCutWidth));
    column.width -= cut;
  }
  for (const column of shown
    .filter(({ leftOut }) => leftOut !== undefined)
    .toSorted((one, other) => (one.leftOut ?? 0) - (other.leftOut ?? 0))) {
    if (excess() > 0) shown = shown.filter((each) => each !== column);
  }
  return Array.from({ length: rows.length + 1 }, (_, line) =>
    shown
      .map((column) => fit(column.cells[line] ?? '', column.width))
      .join(gap)
      .trimEnd(),
  );
}

function cellText<Row>({ value, text }: Column<Row>, row: Row, now: number): string {
  if (text !== undefined) return asLine(text(row, now));
  const plain = value(row);
  if (plain === null) return '';
  return asLine(typeof plain === 'object' ? plain.join(', ') : String(plain));
}

const longest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, text.length), 0);

const fit = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(width);

/** How long ago something was: `12 s`, `5 min`, `3 h`, `9 d`; empty where that is unknown. */
export function ageText(at: string | null | undefined, now: number): string {
  const since = at ? Date.parse(at) : NaN;
  if (Number.isNaN(since)) return '';
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
