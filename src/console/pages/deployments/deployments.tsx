import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { deploymentSummaries, type DeploymentSummaries } from '../../../contract/control/deployment-summary.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Empty, ErrorNotice, Loading } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { paths } from '../../paths.ts';
import {
  readView,
  shownDeployments,
  stateCounts,
  stateLabel,
  viewQuery,
  type ListView,
  type SortKey,
} from './deployment-list.ts';
import { DeploymentTable } from './deployment-table.tsx';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';

const maxLoaded = 1_000;
/** The sort keys that begin with the largest or newest. */
const firstDescending: ReadonlySet<SortKey> = new Set(['change', 'requests', 'failures']);

/** All deployments of the workspace. The page's address stores search, filter and order. */
export function Deployments() {
  const { query, route } = useLocation();
  const view = readView(query);
  const changeView = (change: Partial<ListView>): void => route(paths.home + viewQuery({ ...view, ...change }), true);
  const sortBy = (key: SortKey): void =>
    changeView({ sort: key, isDescending: view.sort === key ? !view.isDescending : firstDescending.has(key) });

  // The service searches only if it has more deployments than one response contains.
  const [isCut, setCut] = useState(false);
  const name_contains = (isCut && view.search) || undefined;
  const { data, error, reload } = useLoaded(
    name_contains ?? '',
    async (signal) => {
      const options = { query: { limit: maxLoaded, name_contains }, signal };
      const page = await call('GET', 'v2/deployment-summaries', deploymentSummaries, options);
      if (name_contains === undefined) setCut(page.total > page.resources.length);
      return page;
    },
    // Less often for a long list, because the response is large.
    { everyMs: (page) => ((page?.resources.length ?? 0) > 100 ? 15_000 : 5_000) },
  );
  const isNew = data?.total === 0 && name_contains === undefined;
  return (
    <Page
      title="Deployments"
      actions={
        <a class="button button-primary" href={paths.newDeployment}>
          New deployment
        </a>
      }
    >
      {error && <ErrorNotice error={error} retry={reload} />}
      {isNew ? (
        <Welcome />
      ) : (
        <>
          <Filters view={view} data={data} show={changeView} />
          {data ? (
            <List data={data} view={view} show={changeView} onSort={sortBy} />
          ) : (
            !error && <Loading what="the deployments" />
          )}
        </>
      )}
    </Page>
  );
}

interface FilterProps {
  view: ListView;
  data: DeploymentSummaries | undefined;
  show: (change: Partial<ListView>) => void;
}

function Filters({ view, data, show }: FilterProps) {
  return (
    <search class="row deployments-filters">
      <input
        type="search"
        aria-label="Search"
        placeholder="Search names, addresses and commits"
        value={view.search}
        onInput={(event) => show({ search: event.currentTarget.value })}
      />
      <Select
        aria-label="State"
        value={view.state}
        none="All states"
        options={stateCounts(data?.resources ?? []).map(([value, count]) => ({
          value,
          label: `${stateLabel(value)} (${count})`,
        }))}
        onChange={(state) => show({ state })}
      />
    </search>
  );
}

interface ListProps {
  data: DeploymentSummaries;
  view: ListView;
  show: (change: Partial<ListView>) => void;
  onSort: (key: SortKey) => void;
}

function List({ data, view, show, onSort }: ListProps) {
  const shown = shownDeployments(data.resources, view);
  const isCut = data.total > data.resources.length;
  return (
    <>
      <p class="deployments-count muted" role="status">
        {`${shown.length.toLocaleString('en')} of ${data.total.toLocaleString('en')}`}
        {isCut &&
          `. Only the first ${data.resources.length.toLocaleString('en')} are loaded: search by name for others.`}
      </p>
      {shown.length === 0 ? (
        <Empty title="No deployment matches">
          <p>Change the search or the state.</p>
          <Button onClick={() => show({ search: '', state: '' })}>Show all</Button>
        </Empty>
      ) : (
        <DeploymentTable deployments={shown} view={view} onSort={onSort} />
      )}
    </>
  );
}

function Welcome() {
  return (
    <Empty title="Deploy your first agent">
      <p>
        A deployment builds an agent and serves it at an address of its own. It needs a folder or a repository with a{' '}
        <code>langgraph.json</code>.
      </p>
      <p>
        To try it, drop the folder <code>examples/echo-agent</code> of this project on the next page. It needs no model
        and no keys.
      </p>
      <a class="button button-primary" href={paths.newDeployment}>
        Deploy an agent
      </a>
    </Empty>
  );
}
