import type { Health } from '../../../contract/control/health.ts';
import { shortId } from '../../parts/revision-status.ts';
import { isMeasured, plotKinds } from './plots.ts';
import { Table } from '../../parts/table.tsx';

/** The figures of the plots as a table, newest first; steps without a figure are left out. */
export function HealthTable({ health }: { health: Health }) {
  const { points, step_seconds, deploys } = health;
  const deploysIn = (at: string): string =>
    deploys
      .filter((deploy) => {
        const sinceStart = Date.parse(deploy.at) - Date.parse(at);
        return sinceStart >= 0 && sinceStart < step_seconds * 1_000;
      })
      .map(({ revision_id }) => shortId(revision_id))
      .join(', ');
  const rows = points.filter((point) => isMeasured(point) || deploysIn(point.at) !== '').toReversed();
  const titles = plotKinds.flatMap(({ title, lines }) =>
    lines.map(({ label }) => (lines.length > 1 ? `${title}, ${label}` : title)),
  );
  return (
    <Table label="Figures" columns={['From', ...titles, 'Deploys']} class="">
      {rows.map((point) => (
        <tr key={point.at}>
          <th scope="row">
            <time dateTime={point.at}>{new Date(point.at).toLocaleString()}</time>
          </th>
          {plotKinds.flatMap(({ title, lines, format }) =>
            lines.map(({ label, value }) => {
              const figure = value(point, step_seconds);
              return <td key={title + label}>{figure === null ? '–' : format(figure)}</td>;
            }),
          )}
          <td class="mono">{deploysIn(point.at)}</td>
        </tr>
      ))}
    </Table>
  );
}
