import { useState } from 'preact/hooks';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { deploymentPage } from '../../parts/deployment-page.tsx';
import { FilterField } from '../../parts/field.tsx';
import { List, Empty } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { isDefaultAssistant, type Assistant } from '../../../contract/agent/assistant.ts';
import { AssistantForm } from './assistant-form.tsx';
import { AssistantView } from './assistant.tsx';
import { toAssistantSearch, searchAssistants } from './assistants-api.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/table.tsx';

/** The assistants of an agent, or with `?assistant=ID` one of them. */
export default deploymentPage('Assistants', ({ deploymentId }) => {
  const [{ assistant }] = useAddressQuery();
  if (assistant === undefined) return <AssistantList deploymentId={deploymentId} />;
  return <AssistantView key={assistant} deploymentId={deploymentId} assistantId={assistant} />;
});

const everyMs = 15_000;

function AssistantList({ deploymentId }: { deploymentId: string }) {
  const [{ search = '' }, change] = useAddressQuery();
  const [isCreating, setCreating] = useState(false);
  const list = useList(
    `${deploymentId} ${search}`,
    ({ assistant_id }: Assistant) => assistant_id,
    (page, signal) =>
      searchAssistants(
        deploymentId,
        { ...toAssistantSearch(search), ...page, sort_by: 'updated_at', sort_order: 'desc' },
        signal,
      ),
    { everyMs },
  );
  return (
    <>
      <search class="row list-filters">
        <FilterField
          label="Name, or key=value of the metadata"
          placeholder="support or team=sales"
          value={search}
          onChange={(text) => change({ search: text })}
        />
        <div class="end">
          <Button kind="primary" onClick={() => setCreating(true)}>
            New assistant
          </Button>
        </div>
      </search>
      <List
        list={list}
        what="the assistants"
        deploymentId={deploymentId}
        empty={
          search === '' ? (
            <Empty title="No assistants">
              <p>Each graph of the agent has one by itself. Choose “New assistant” to make another one.</p>
            </Empty>
          ) : (
            <Empty title="No assistant matches">
              <a class="button" href={paths.assistants(deploymentId)}>
                Show all assistants
              </a>
            </Empty>
          )
        }
      >
        {(assistants) => <AssistantTable deploymentId={deploymentId} assistants={assistants} />}
      </List>
      {isCreating && (
        <AssistantForm
          deploymentId={deploymentId}
          graphs={[...new Set(list.entries?.map(({ graph_id }) => graph_id))]}
          onSaved={({ assistant_id }) => change({ search: '', assistant: assistant_id })}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}

function AssistantTable({ deploymentId, assistants }: { deploymentId: string; assistants: readonly Assistant[] }) {
  return (
    <Table label="Assistants" columns={['Name', 'Graph', 'Active version', 'Changed', 'Description']}>
      {assistants.map((assistant) => {
        const { assistant_id, name, graph_id, version, updated_at, description } = assistant;
        return (
          <tr key={assistant_id}>
            <th scope="row">
              <a href={paths.assistant(deploymentId, assistant_id)}>
                <Untrusted text={name || 'Without a name'} longest={100} />
              </a>
              {isDefaultAssistant(assistant) && <span class="muted"> (the graph’s own)</span>}
            </th>
            <td>
              <Untrusted text={graph_id} longest={60} />
            </td>
            <td>{version ?? '–'}</td>
            <td>
              <TimeAgo at={updated_at} />
            </td>
            <td>
              <Untrusted text={description ?? ''} longest={160} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
