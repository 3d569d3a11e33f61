import type { Health } from '../../../contract/control/health.ts';
import { shortId } from '../../parts/revision-status.ts';
import { isMeasured, plotKinds } from './plots.ts';

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
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Figures">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {plotKinds.flatMap(({ title, lines }) =>
              lines.map(({ label }) => (
                <th key={title + label} scope="col">
                  {lines.length > 1 ? `${title}, ${label}` : title}
                </th>
              )),
            )}
            <th scope="col">Deploys</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}
