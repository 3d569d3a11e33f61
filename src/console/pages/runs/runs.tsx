import { useState } from 'preact/hooks';
import type { Deployment } from '../../../contract/control/deployment.ts';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { AgentError, List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notices.tsx';
import { paths } from '../../paths.ts';
import { isFiltered, readRunFilter, runFilterProblems, toRunsQuery } from './run-filter.ts';
import { RunFilters } from './run-filters.tsx';
import { isLiveOnly, joinRuns, matchingLive, mayBeLive, type ListedRun } from './live-runs.ts';
import { RunTable } from './run-table.tsx';
import { listAssistants, listLiveRuns, listRuns } from './runs-api.ts';
import { Button } from '../../parts/button.tsx';

/** The runs of a deployment's agent: those in progress, then the last ended ones. */
export default function Runs({ deploymentId }: { deploymentId: string }) {
  return (
    <DeploymentPage deploymentId={deploymentId} current="Runs">
      {(deployment) => <RunList deployment={deployment} />}
    </DeploymentPage>
  );
}

const everyMs = 5_000;
/** Runs in progress come and go more often. */
const liveEveryMs = 2_500;

function RunList({ deployment: { id, tracer_session_id } }: { deployment: Deployment }) {
  const [query, change] = useAddressQuery();
  const [chosen, setChosen] = useState<readonly ListedRun[]>([]);
  const filter = readRunFilter(query);
  const { data: assistants = [] } = useLoaded(id, (signal) => listAssistants(id, signal));
  const { data: live = [], ...liveRuns } = useLoaded(id, (signal) => listLiveRuns(id, signal), {
    everyMs: liveEveryMs,
  });
  const shownLive = mayBeLive(filter) ? matchingLive(live, filter) : [];
  const ended = useList<ListedRun>(
    JSON.stringify([tracer_session_id, filter]),
    (run) => run.id,
    async (page, signal) =>
      tracer_session_id == null || isLiveOnly(filter)
        ? []
        : listRuns(tracer_session_id, { ...toRunsQuery(filter, Date.now()), ...page }, signal),
    { everyMs },
  );
  const list = { ...ended, entries: ended.entries && joinRuns(shownLive, ended.entries) };
  return (
    <>
      <RunFilters
        assistants={assistants}
        filter={filter}
        problems={runFilterProblems(filter)}
        change={change}
        actions={<Choice deploymentId={id} chosen={chosen} clear={() => setChosen([])} />}
      />
      {liveRuns.error && mayBeLive(filter) && (
        <AgentError error={liveRuns.error} deploymentId={id} retry={liveRuns.reload} />
      )}
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
                Every run of this agent appears here. Start one in the <a href={paths.playground(id)}>playground</a>.
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
  chosen: readonly ListedRun[];
  clear: () => void;
}

/** What can be done with the runs that were ticked, the older one first; they may have left the list by a filter. */
function Choice({ deploymentId, chosen, clear }: ChoiceProps) {
  const [left, right] = chosen
    .toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))
    .map((run) => run.id);
  return (
    <div class="actions">
      {left === undefined || right === undefined ? (
        <Button disabled title="Select two runs in the list.">
          Compare ({chosen.length} of 2)
        </Button>
      ) : (
        <a class="button" href={`${paths.compareRuns(deploymentId)}?${new URLSearchParams({ left, right })}`}>
          Compare (2 of 2)
        </a>
      )}
      <Button disabled={left === undefined} onClick={clear}>
        Clear the choice
      </Button>
    </div>
  );
}
