import type { StoredVerdict } from '../../../contract/control/verdict.ts';
import {
  shownColumns,
  tableRows,
  titleOf,
  type Cell,
  type Column,
  type Row,
} from '../../../deploy/words/verdict-table/table.ts';
import { tableNotes } from '../../../deploy/words/verdict-table/notes.ts';
import { Badge } from '../../parts/badge.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { kindOf } from './verdict-rows.ts';
import { Table } from '../../parts/table.tsx';

/** Shown only of tests that count or compare several answers; what one answer was stands below the table. */
const ofSeveral: readonly Column[] = ['live', 'changed', 'change', 'latency', 'cost'];

/** Whether the tests fill a table: not where each needs one answer. */
export const needTable = (tests: StoredVerdict['tests']): boolean =>
  shownColumns(tableRows(tests)).some((column) => ofSeveral.includes(column));

/** The table of verdicts that reports on GitHub have, and what it does not say. */
export function VerdictTable({ tests }: { tests: StoredVerdict['tests'] }) {
  const rows = tableRows(tests);
  const columns = shownColumns(rows).filter((column) => column !== 'expectations');
  const notes = tableNotes(tests);
  return (
    <>
      <Table
        label="Results of the smoke tests"
        columns={columns.map((column) => capitalized(titleOf(column)))}
        class="deployment-results"
      >
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map((column) => (
              <td key={column} class={ofSeveral.includes(column) ? 'deployment-figures' : undefined}>
                <CellText row={row} column={column} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {notes.length > 0 && (
        <ul class="deployment-notes">
          {notes.map((note) => (
            <li key={note}>
              <Untrusted text={note} longest={1_000} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function CellText({ row: { kind, cells }, column }: { row: Row; column: Column }) {
  const lines = (cells.get(column) ?? []).map((line, index) => <Line key={index} line={line} />);
  if (column !== 'verdict') return <>{lines}</>;
  const { label, tone } = kindOf(kind);
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {lines}
    </>
  );
}

function Line({ line }: { line: Cell[number] }) {
  return (
    <span class="deployment-line">
      {line.map(({ text, as }, index) => {
        // A screen reader has the medians beside it.
        if (as === 'plot') {
          return (
            <span key={index} class="mono" aria-hidden="true">
              {text}
            </span>
          );
        }
        const shown = <Untrusted key={index} text={text} longest={2_000} />;
        return as === 'worse' ? <strong key={index}>{shown}</strong> : shown;
      })}
    </span>
  );
}
