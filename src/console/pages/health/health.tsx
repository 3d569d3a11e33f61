import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { health as healthSchema, type Health as HealthData } from '../../../contract/control/health.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { paths } from '../../paths.ts';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { Empty, ErrorNotice, Loading } from '../../parts/notices.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { HealthTable } from './health-table.tsx';
import { Plot } from './plot.tsx';
import { hasFigures, plotKinds, rangeOf, ranges, startOf, type Range } from './plots.ts';
import { Button } from '../../parts/button.tsx';

/** The figures of a deployment over a period, as plots or as a table. */
export default function Health({ deploymentId }: { deploymentId: string }) {
  const { query } = useRoute();
  return (
    <DeploymentPage deploymentId={deploymentId} current="Health">
      {({ created_at }) => (
        <Figures deploymentId={deploymentId} createdAt={created_at} range={rangeOf(query['range'])} />
      )}
    </DeploymentPage>
  );
}

interface FiguresProps {
  deploymentId: string;
  createdAt: string;
  range: Range;
}

function Figures({ deploymentId, createdAt, range }: FiguresProps) {
  const [isTable, setTable] = useState(false);
  const { data, error, reload } = useLoaded(
    `${deploymentId} ${range.id}`,
    (signal) => {
      const from = new Date(startOf(range, createdAt, Date.now())).toISOString();
      return call('GET', `v2/deployments/${deploymentId}/health`, healthSchema, { query: { from }, signal });
    },
    { everyMs: 10_000 },
  );
  return (
    <>
      <div class="health-bar">
        <nav aria-label="Period" class="health-ranges">
          {ranges.map(({ id, label }) => (
            <a
              key={id}
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
      {error && <ErrorNotice error={error} retry={reload} />}
      {!data && !error && <Loading what="the figures" />}
      {data && (
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
    </>
  );
}

function Plots({ health, range }: { health: HealthData; range: Range }) {
  const cursor = useSignal<number | undefined>(undefined);
  const at = cursor.value === undefined ? undefined : health.points[cursor.value]?.at;
  return (
    <>
      <p class="muted health-time" aria-hidden="true">
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

const mostDeploys = 12;

/** The deploys that the vertical lines stand for, newest first. */
function Deploys({ deploymentId, deploys }: { deploymentId: string; deploys: HealthData['deploys'] }) {
  if (deploys.length === 0) return <p class="muted health-deploys">No deploys in this period.</p>;
  return (
    <div class="health-deploys">
      <span class="muted">Deploys (dashed lines):</span>
      <ul aria-label="Deploys">
        {deploys
          .toReversed()
          .slice(0, mostDeploys)
          .map(({ revision_id, at }) => (
            <li key={revision_id + at}>
              <a class="mono" href={paths.revision(deploymentId, revision_id)}>
                {shortId(revision_id)}
              </a>{' '}
              <span class="muted">
                <TimeAgo at={at} />
              </span>
            </li>
          ))}
        {deploys.length > mostDeploys && <li class="muted">and {deploys.length - mostDeploys} earlier</li>}
      </ul>
    </div>
  );
}
