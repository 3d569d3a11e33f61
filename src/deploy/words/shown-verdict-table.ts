import {
  shownColumns,
  tableRows,
  titleOf,
  type Cell,
  type Column,
  type Row,
  type TableTest,
} from './verdict-table/table.ts';
import { tableNotes } from './verdict-table/notes.ts';
import { asCode, asMarkdown } from './sanitize.ts';

const signs: ReadonlyMap<string, string> = new Map([
  ['passed', '✅'],
  ['failed', '❌'],
]);

/** The table of verdicts in Markdown, with the columns that have something to show, and what it does not say. */
export function verdictTable(tests: readonly TableTest[]): string[] {
  const rows = tableRows(tests);
  const columns = shownColumns(rows);
  const notes = tableNotes(tests);
  return [
    `| ${columns.map(titleOf).join(' | ')} |`,
    `|${columns.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${columns.map((column) => cellText(row, column)).join(' | ')} |`),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${asMarkdown(note, 1000)}`)]),
  ];
}

function cellText({ kind, cells }: Row, column: Column): string {
  const text = (cells.get(column) ?? []).map(lineText).join('<br>');
  return column === 'verdict' ? `${signs.get(kind) ?? '❔'} ${asMarkdown(kind)}${text && `: ${text}`}` : text;
}

const lineText = (line: Cell[number]): string =>
  line
    .map(({ text, as }) => {
      if (as === 'value' || as === 'plot') return asCode(text);
      return as === 'worse' ? `<strong>${asMarkdown(text)}</strong>` : asMarkdown(text);
    })
    .join('');
