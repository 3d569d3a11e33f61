import { useState } from 'preact/hooks';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { deploymentPage, type DeploymentContentProps } from '../../parts/deployment-page.tsx';
import { AgentError, List, Empty } from '../../parts/notices.tsx';
import { paths } from '../../paths.ts';
import { isFiltered, readRunFilter, runFilterProblems, toRunsQuery, timeRanges, type RunFilter } from './run-filter.ts';
import { isLiveOnly, joinRuns, matchingLive, mayBeLive, type ListedRun, liveStatuses } from './live-runs.ts';
import { RunTable } from './run-table.tsx';
import { listAssistants, listLiveRuns, listRuns } from './runs-api.ts';
import { Button } from '../../parts/button.tsx';
import type { ComponentChildren } from 'preact';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { runStatus } from '../../parts/badge.tsx';
import { FilterField, FilterSelect } from '../../parts/field.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { finalRunStatuses } from '../../../contract/agent/run.ts';

/** The runs of a deployment's agent: those in progress, then the last ended ones. */
export default deploymentPage('Runs', RunList);

const everyMs = 5_000;
/** Shorter, because runs in progress change more often. */
const liveEveryMs = 2_500;

function RunList({ deployment: { id, tracer_session_id } }: DeploymentContentProps) {
  const [query, change] = useAddressQuery();
  const [chosen, setChosen] = useState<readonly ListedRun[]>([]);
  const filter = readRunFilter(query);
  const { data: assistants = [] } = useLoaded(id, (signal) => listAssistants(id, signal));
  const { data: live = [], ...liveRuns } = useLoaded(id, (signal) => listLiveRuns(id, signal), {
    everyMs: liveEveryMs,
  });
  const matchingLiveRuns = mayBeLive(filter) ? matchingLive(live, filter) : [];
  const ended = useList<ListedRun>(
    JSON.stringify([tracer_session_id, filter]),
    (run) => run.id,
    async (page, signal) =>
      tracer_session_id == null || isLiveOnly(filter)
        ? []
        : listRuns(tracer_session_id, { ...toRunsQuery(filter, Date.now()), ...page }, signal),
    { everyMs },
  );
  const list = { ...ended, entries: ended.entries && joinRuns(matchingLiveRuns, ended.entries) };
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

/** The actions on the selected runs, the older one first. A filter may have removed them from the list. */
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

interface RunFiltersProps {
  /** The assistants to choose from. Without a live agent there are none, but the filter of the address still works. */
  assistants: readonly Assistant[];
  filter: RunFilter;
  problems: Partial<Record<keyof RunFilter, string>>;
  change: (changes: Partial<RunFilter>) => void;
  actions: ComponentChildren;
}

/** The filters of the runs, which are kept in the address. */
function RunFilters({ assistants, filter, problems, change, actions }: RunFiltersProps) {
  const isUnknown = filter.assistant !== '' && !assistants.some((each) => each.assistant_id === filter.assistant);
  return (
    <search class="row list-filters">
      <FilterSelect
        label="Status"
        value={filter.status}
        none="Any status"
        options={[...liveStatuses, ...finalRunStatuses].map((value) => ({ value, label: runStatus(value).label }))}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label="Assistant"
        value={filter.assistant}
        none="Any assistant"
        options={[
          ...assistants.map(({ assistant_id, name, graph_id }) => ({
            value: assistant_id,
            label: shownText(name ?? graph_id, 60),
          })),
          ...(isUnknown ? [{ value: filter.assistant, label: shownText(filter.assistant, 60) }] : []),
        ]}
        onChange={(assistant) => change({ assistant })}
      />
      <FilterSelect
        label="Ended"
        value={filter.time}
        none="At any time"
        options={[
          ...Object.entries(timeRanges).map(([value, { label }]) => ({ value, label })),
          { value: 'custom', label: 'From … until …' },
        ]}
        onChange={(time) => change({ time, from: '', until: '' })}
      />
      {filter.time === 'custom' && (
        <>
          <FilterField
            label="From"
            type="datetime-local"
            value={filter.from}
            problem={problems.from}
            onChange={(from) => change({ from })}
          />
          <FilterField
            label="Until"
            type="datetime-local"
            value={filter.until}
            problem={problems.until}
            onChange={(until) => change({ until })}
          />
        </>
      )}
      <FilterField
        label="Thread"
        placeholder="Id of a thread"
        value={filter.thread}
        problem={problems.thread}
        onChange={(thread) => change({ thread: thread.trim() })}
      />
      <FilterField
        label="Text of the error"
        placeholder="Search errors"
        value={filter.error}
        problem={problems.error}
        onChange={(error) => change({ error })}
      />
      {actions}
    </search>
  );
}
