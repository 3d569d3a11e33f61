import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { shortId } from '../../parts/words.ts';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { kindOf, verdictTable, type RateMark, type VerdictCell } from './verdict-rows.ts';
import { Table } from '../../parts/table.tsx';

/** The verdicts on each smoke test over the last revisions, oldest first; hidden before two were tested. */
export function VerdictHistory({ deploymentId, entries }: { deploymentId: string; entries: readonly HistoryEntry[] }) {
  const { revisionIds, rows, hidden } = verdictTable(entries);
  if (revisionIds.length < 2) return null;
  // Open only if tests have several answers: for others, the timeline shows the same.
  const hasMarks = rows.some(({ cells }) => cells.some((cell) => cell?.mark));
  return (
    <details class="panel deployment-verdicts" open={hasMarks}>
      <summary>
        <h2>Smoke tests over the last revisions</h2>
      </summary>
      <p class="muted">
        Oldest first.
        {hasMarks &&
          ' A bar is the likely range of the share of right answers: 0 % is the lower line, 100 % the upper one.'}
      </p>
      <Table
        label="Verdicts by revision"
        columns={[
          'Smoke test',
          ...revisionIds.map((id) => (
            <a key={id} class="mono" href={paths.revision(deploymentId, id)} aria-label={`Revision ${shortId(id)}`}>
              {shortId(id)}
            </a>
          )),
        ]}
        class=""
      >
        {rows.map(({ name, cells }) => (
          <tr key={name}>
            <th scope="row">
              <Untrusted text={name} longest={120} />
            </th>
            {cells.map((cell, index) => (
              <td key={revisionIds[index]}>
                {cell ? <Cell cell={cell} deploymentId={deploymentId} /> : <span class="muted">–</span>}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {hidden > 0 && <p class="muted">{hidden} more tests are on the pages of the revisions.</p>}
    </details>
  );
}

const signByKind: ReadonlyMap<string, string> = new Map([
  ['passed', '✓'],
  ['failed', '✗'],
]);

/** A verdict as a sign, with its rate as a small plot. Its column's heading is the link for the keyboard. */
function Cell({ cell: { revisionId, kind, mark, text }, deploymentId }: { cell: VerdictCell; deploymentId: string }) {
  return (
    <a
      class="deployment-cell"
      style={{ color: `var(--${kindOf(kind).tone}, var(--accent))` }}
      href={paths.revision(deploymentId, revisionId)}
      title={shownText(text, 200)}
      tabIndex={-1}
    >
      {mark && <Mark mark={mark} />}
      <span aria-hidden="true">{signByKind.get(kind) ?? '?'}</span>
      <span class="visually-hidden">{shownText(text, 200)}</span>
    </a>
  );
}

const height = 60;
const yOf = (share: number): number => (1 - share) * height;

/** The likely range as a bar, and the observed share as a point on it. */
function Mark({ mark: { rate, low, high } }: { mark: RateMark }) {
  return (
    <svg class="deployment-mark" viewBox={`-8 -4 16 ${height + 8}`} width="16" height={height + 8} aria-hidden="true">
      <path class="deployment-mark-scale" d={`M-8 0h16M-8 ${height}h16`} />
      <path class="deployment-mark-range" d={`M-5 ${yOf(high)}h10M0 ${yOf(high)}V${yOf(low)}M-5 ${yOf(low)}h10`} />
      <circle cx="0" cy={yOf(rate)} r="3" />
    </svg>
  );
}
