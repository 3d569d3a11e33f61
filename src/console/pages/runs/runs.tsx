import { useState } from 'preact/hooks';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import type { Deployment } from '../../../contract/control/deployment.ts';
import type { TracedRunResponse } from '../../../contract/control/tracing-project.ts';
import { useAddressQuery } from '../../api/use-address-query.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useList } from '../../api/use-list.ts';
import { Badge } from '../../parts/badge.tsx';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notices.tsx';
import { duration, TimeAgo } from '../../parts/time.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { runStatus } from '../../parts/run-status.ts';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { isFiltered, readRunFilter, runFilterProblems, toRunsQuery } from './run-filter.ts';
import { RunFilters } from './run-filters.tsx';
import { runMs } from './run-facts.ts';
import { listAssistants, listRuns } from './runs-api.ts';

/** The runs of a deployment's agent, last ended first. */
export default function Runs({ deploymentId }: { deploymentId: string }) {
  return (
    <DeploymentPage deploymentId={deploymentId} current="Runs">
      {(deployment) => <RunList deployment={deployment} />}
    </DeploymentPage>
  );
}

const everyMs = 5_000;

function RunList({ deployment: { id, tracer_session_id } }: { deployment: Deployment }) {
  const [query, change] = useAddressQuery();
  const [chosen, setChosen] = useState<readonly TracedRunResponse[]>([]);
  const filter = readRunFilter(query);
  const { data: assistants = [] } = useLoaded(id, (signal) => listAssistants(id, signal));
  const list = useList(
    JSON.stringify([tracer_session_id, filter]),
    (run: TracedRunResponse) => run.id,
    async (page, signal) =>
      tracer_session_id == null
        ? []
        : listRuns(tracer_session_id, { ...toRunsQuery(filter, Date.now()), ...page }, signal),
    { everyMs },
  );
  return (
    <>
      <RunFilters
        assistants={assistants}
        filter={filter}
        problems={runFilterProblems(filter)}
        change={change}
        actions={<Choice deploymentId={id} chosen={chosen} clear={() => setChosen([])} />}
      />
      <List
        list={list}
        what="the runs"
        deploymentId={id}
        empty={
          isFiltered(filter) ? (
            <Empty title="No run matches">
              <a class="button" href={paths.runs(id)}>
                Show all runs
              </a>
            </Empty>
          ) : (
            <Empty title="No runs yet">
              <p>
                Every run of this agent appears here some seconds after it ended. Start one in the{' '}
                <a href={paths.playground(id)}>playground</a>.
              </p>
            </Empty>
          )
        }
      >
        {(runs) => (
          <RunTable
            deploymentId={id}
            runs={runs}
            assistants={assistants}
            chosen={chosen}
            choose={(run, isChosen) =>
              setChosen((former) => [...former.filter(({ id: each }) => each !== run.id), ...(isChosen ? [run] : [])])
            }
          />
        )}
      </List>
    </>
  );
}

interface ChoiceProps {
  deploymentId: string;
  chosen: readonly TracedRunResponse[];
  clear: () => void;
}

/** What can be done with the runs that were ticked, the older one first; they may have left the list by a filter. */
function Choice({ deploymentId, chosen, clear }: ChoiceProps) {
  const [left, right] = chosen
    .toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))
    .map((run) => run.id);
  return (
    <div class="runs-choice">
      {left === undefined || right === undefined ? (
        <span class="muted">{left === undefined ? 'Choose two runs to compare them.' : 'Choose one more run.'}</span>
      ) : (
        <a class="button" href={`${paths.compareRuns(deploymentId)}?${new URLSearchParams({ left, right })}`}>
          Compare the two runs
        </a>
      )}
      {left !== undefined && (
        <button type="button" class="button" onClick={clear}>
          Clear the choice
        </button>
      )}
    </div>
  );
}

interface RunTableProps {
  deploymentId: string;
  runs: readonly TracedRunResponse[];
  assistants: readonly Assistant[];
  chosen: readonly TracedRunResponse[];
  choose: (run: TracedRunResponse, isChosen: boolean) => void;
}

function RunTable({ deploymentId, runs, assistants, chosen, choose }: RunTableProps) {
  return (
    <div class="table-frame">
      <table class="list-table runs-table" aria-label="Runs">
        <thead>
          <tr>
            <th scope="col">Compare</th>
            <th scope="col">Run</th>
            <th scope="col">Assistant</th>
            <th scope="col">Status</th>
            <th scope="col">Ended</th>
            <th scope="col">Duration</th>
            <th scope="col">Revision</th>
            <th scope="col">Tokens</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const { label, tone } = runStatus(run.status);
            const ms = runMs(run);
            const assistant = assistants.find(({ assistant_id }) => assistant_id === run.assistant_id);
            const isChosen = chosen.some(({ id }) => id === run.id);
            return (
              <tr key={run.id}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Compare run ${run.id.slice(0, 8)}`}
                    checked={isChosen}
                    disabled={!isChosen && chosen.length === 2}
                    onChange={(event) => choose(run, event.currentTarget.checked)}
                  />
                </td>
                <th scope="row">
                  <a class="mono" href={paths.run(deploymentId, encodeURIComponent(run.id))}>
                    {shownText(run.id.slice(0, 8))}
                  </a>
                  {run.error && (
                    <div class="runs-error">
                      <Untrusted text={`${run.error.error}: ${run.error.message}`} longest={160} />
                    </div>
                  )}
                </th>
                <td>
                  <Untrusted text={assistant?.name ?? run.graph_id} longest={60} />
                </td>
                <td>
                  <Badge tone={tone}>{shownText(label, 40)}</Badge>
                </td>
                <td>
                  <TimeAgo at={run.ended_at} />
                </td>
                <td class="runs-number">{ms === undefined ? 'not started' : duration(ms)}</td>
                <td>
                  {run.revision_id === null ? (
                    '–'
                  ) : (
                    <a class="mono" href={paths.revision(deploymentId, encodeURIComponent(run.revision_id))}>
                      {shownText(shortId(run.revision_id))}
                    </a>
                  )}
                </td>
                <td class="runs-number">{run.tokens?.total.toLocaleString('en') ?? '–'}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
