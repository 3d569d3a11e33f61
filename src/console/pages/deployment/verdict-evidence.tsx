import type { StoredVerdict } from '../../../contract/control/verdict.ts';
import { Badge } from '../../parts/badge.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { duration } from '../../parts/words.ts';
import { Untrusted } from '../../parts/untrusted.tsx';
import { kindOf } from './verdict-rows.ts';
import { Table } from '../../parts/table.tsx';
import {
  shownColumns,
  tableRows,
  titleOf,
  type Cell,
  type Column,
  type Row,
} from '../../../deploy/words/verdict-table/table.ts';
import { tableNotes } from '../../../deploy/words/verdict-table/notes.ts';
import { capitalized } from '../../../kit/plain-text.ts';

const reporters: ReadonlyMap<string, string> = new Map([
  ['action', 'the GitHub Action'],
  ['app', 'the GitHub App'],
  ['cli', 'the command line'],
]);

/** The verdict of the smoke tests, and what each test expected and observed. */
export function VerdictEvidence({ verdict }: { verdict: StoredVerdict }) {
  const { tests, kind, reporter, details_url } = verdict;
  const isTable = needsTable(tests);
  const passed = tests.filter((test) => test.kind === 'passed').length;
  const { label, tone } = kindOf(kind);
  return (
    <details class="deployment-verdict" open={kind === 'failed'}>
      <summary>
        Smoke tests: <Badge tone={tone}>{label}</Badge>{' '}
        <span class="muted">
          {passed} of {tests.length} passed, reported by {reporters.get(reporter) ?? reporter}{' '}
          <TimeAgo at={verdict.created_at} />
        </span>
      </summary>
      {isTable && <VerdictTable tests={tests} />}
      {tests.map((test, index) => (
        <Test key={index} test={test} isInTable={isTable} />
      ))}
      {isWebAddress(details_url) && (
        <p>
          <a href={details_url} rel="noreferrer noopener" target="_blank">
            Open the run that tested it
          </a>
        </p>
      )}
    </details>
  );
}

/** Allows only the schemes of the contract: a `javascript:` link would run in this page. */
const isWebAddress = (url: string | null | undefined): url is string => url != null && /^https?:\/\//i.test(url);

/** What one test expected and observed. Its times are in the table, if there is one. */
function Test({ test, isInTable }: { test: StoredVerdict['tests'][number]; isInTable: boolean }) {
  const { label, tone } = kindOf(test.kind);
  return (
    <section class="stack tight deployment-test">
      <p>
        <Badge tone={tone}>{label}</Badge> <Untrusted text={test.name} longest={200} />{' '}
        {!isInTable && (
          <span class="muted">
            {test.attempts > 1 && `${test.attempts} attempts`}
            {test.first_event_ms !== null && ` · first event after ${duration(test.first_event_ms)}`}
            {test.total_ms !== null && ` · ${duration(test.total_ms)} in all`}
          </span>
        )}
      </p>
      {test.why !== null && (
        <p>
          <Untrusted text={test.why} longest={2_000} />
        </p>
      )}
      {test.expectations.length > 0 && (
        <Table label={`Expectations of ${test.name.slice(0, 80)}`} columns={['Result', 'Expected', 'Seen']} class="">
          {test.expectations.map(({ expected, seen, held, advises }, index) => (
            <tr key={index}>
              <td>
                <Badge tone={held ? 'good' : advises ? 'warn' : 'bad'}>{held ? 'Held' : 'Not held'}</Badge>
                {advises && <span class="muted"> advice</span>}
              </td>
              <td>
                <Untrusted text={expected} longest={2_000} />
              </td>
              <td>
                <Untrusted text={seen} longest={2_000} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** The columns of tests that count or compare several answers. Tests with one answer are shown below the table. */
const comparisonColumns: readonly Column[] = ['live', 'changed', 'change', 'latency', 'cost'];

/** Whether any test needs the table, because it counts or compares several answers. */
const needsTable = (tests: StoredVerdict['tests']): boolean =>
  shownColumns(tableRows(tests)).some((column) => comparisonColumns.includes(column));

/** The same table of verdicts as in reports on GitHub, with its notes. */
function VerdictTable({ tests }: { tests: StoredVerdict['tests'] }) {
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
              <td key={column} class={comparisonColumns.includes(column) ? 'deployment-figures' : undefined}>
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
    <div>
      {line.map(({ text, as }, index) => {
        // Hidden from screen readers, which read the medians beside it.
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
    </div>
  );
}
