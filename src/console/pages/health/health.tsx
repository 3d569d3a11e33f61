import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { health as healthSchema, type Health } from '../../../contract/control/health.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { paths } from '../../paths.ts';
import { deploymentPage, type DeploymentContentProps } from '../../parts/deployment-page.tsx';
import { Empty, WhenLoaded } from '../../parts/notices.tsx';
import { shortId } from '../../parts/words.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Plot } from './plot.tsx';
import { hasFigures, plotKinds, rangeOf, ranges, startOf, isMeasured, type Range } from './plots.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/table.tsx';
import { IdLink } from '../../parts/untrusted.tsx';

/** The metrics of a deployment over a period, as plots or as a table. */
export default deploymentPage('Health', Figures);

function Figures({ deploymentId, deployment }: DeploymentContentProps) {
  const range = rangeOf(useRoute().query['range']);
  const [isTable, setTable] = useState(false);
  const loaded = useLoaded(
    `${deploymentId} ${range.id}`,
    (signal) => {
      const from = new Date(startOf(range, deployment.created_at, Date.now())).toISOString();
      return call('GET', `v2/deployments/${deploymentId}/health`, healthSchema, { query: { from }, signal });
    },
    { everyMs: 10_000 },
  );
  return (
    <>
      <div class="row row-split head">
        <nav aria-label="Period" class="health-ranges">
          {ranges.map(({ id, label }) => (
            <a
              key={id}
              class="choice"
              href={`${paths.health(deploymentId)}?range=${id}`}
              aria-current={id === range.id ? 'true' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <Button aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Show as a table
        </Button>
      </div>
      <WhenLoaded loaded={loaded} what="the figures">
        {(data) => (
          <>
            <Deploys deploymentId={deploymentId} deploys={data.deploys} />
            {!hasFigures(data) ? (
              <Empty title={`Nothing was measured in the last ${range.label}`}>
                <p>
                  Figures appear about a minute after the first run, for example in the{' '}
                  <a href={paths.playground(deploymentId)}>playground</a>. Requests are those of clients, without the
                  console.
                </p>
              </Empty>
            ) : isTable ? (
              <HealthTable health={data} />
            ) : (
              <Plots health={data} range={range} />
            )}
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Plots({ health, range }: { health: Health; range: Range }) {
  const cursor = useSignal<number | undefined>(undefined);
  const at = cursor.value === undefined ? undefined : health.points[cursor.value]?.at;
  return (
    <>
      <p class="muted head" aria-hidden="true">
        {at === undefined
          ? 'Latest values. Hover over a plot to see an earlier moment.'
          : new Date(at).toLocaleString()}
      </p>
      <div class="health-plots">
        {plotKinds.map((kind) => (
          <Plot key={kind.title} kind={kind} health={health} range={range} cursor={cursor} />
        ))}
      </div>
    </>
  );
}

const maxDeploys = 12;

/** The deploys of the vertical lines, newest first. */
function Deploys({ deploymentId, deploys }: { deploymentId: string; deploys: Health['deploys'] }) {
  if (deploys.length === 0) return <p class="muted head">No deploys in this period.</p>;
  return (
    <div class="row head">
      <span class="muted">Deploys (dashed lines):</span>
      <ul class="row plain" aria-label="Deploys">
        {deploys
          .toReversed()
          .slice(0, maxDeploys)
          .map(({ revision_id, at }) => (
            <li key={revision_id + at}>
              <IdLink to={paths.revision} deploymentId={deploymentId} id={revision_id} />{' '}
              <span class="muted">
                <TimeAgo at={at} />
              </span>
            </li>
          ))}
        {deploys.length > maxDeploys && <li class="muted">and {deploys.length - maxDeploys} earlier</li>}
      </ul>
    </div>
  );
}

/** The metrics as a table, newest first; steps without a value are left out. */
function HealthTable({ health }: { health: Health }) {
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
