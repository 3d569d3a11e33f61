import { useState } from 'preact/hooks';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import type { Cron } from '../../../contract/agent/cron.ts';
import { useList } from '../../api/use-list.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { deploymentPage } from '../../parts/deployment-page.tsx';
import { List, Empty } from '../../parts/notices.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { searchAssistants } from '../assistants/assistants-api.ts';
import { CronForm } from './cron-form.tsx';
import { CronPanel } from './cron-panel.tsx';
import { deleteCron, listCrons } from './crons-api.ts';
import { Button } from '../../parts/button.tsx';

/** The periodic runs of an agent. */
export default deploymentPage('Crons', CronList);

const everyMs = 10_000;
/** Small, because each cron needs a request for its times. */
const pageSize = 10;

function CronList({ deploymentId }: { deploymentId: string }) {
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<Cron>();
  const list = useList(
    deploymentId,
    ({ cron_id }: Cron) => cron_id,
    (page, signal) => listCrons(deploymentId, page, signal),
    { everyMs, pageSize },
  );
  const { data: assistants = [] } = useLoaded(`assistants of ${deploymentId}`, (signal) =>
    searchAssistants(deploymentId, { limit: 200, sort_by: 'name', sort_order: 'asc' }, signal),
  );
  const findAssistant = (id: string | null | undefined): Assistant | undefined =>
    assistants.find(({ assistant_id }) => assistant_id === id);
  return (
    <>
      <div class="row list-filters">
        <p class="muted">Each cron starts runs on a schedule. Pause a cron to stop its runs without deleting it.</p>
        <div class="end">
          <Button kind="primary" onClick={() => setCreating(true)}>
            New cron
          </Button>
        </div>
      </div>
      <List
        list={list}
        what="the crons"
        deploymentId={deploymentId}
        empty={
          <Empty title="No crons yet">
            <p>A cron runs an assistant on a schedule, such as every morning at 9. Choose “New cron” to make one.</p>
          </Empty>
        }
      >
        {(crons) => (
          <ul class="plain" aria-label="Crons">
            {crons.map((cron) => (
              <li key={cron.cron_id}>
                <CronPanel
                  deploymentId={deploymentId}
                  cron={cron}
                  assistantName={findAssistant(cron.assistant_id)?.name ?? cron.assistant_id ?? ''}
                  reload={list.reload}
                  onDelete={() => setDeleted(cron)}
                />
              </li>
            ))}
          </ul>
        )}
      </List>
      {isCreating && (
        <CronForm
          deploymentId={deploymentId}
          assistants={assistants}
          onSaved={() => void list.reload()}
          onClose={() => setCreating(false)}
        />
      )}
      {deleted && (
        <ConfirmDialog
          title="Delete this cron?"
          action="Delete the cron"
          isDangerous
          onConfirm={() => deleteCron(deploymentId, deleted.cron_id)}
          done="The cron is deleted."
          onDone={list.reload}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            No more runs start on <Untrusted text={deleted.schedule} longest={200} />. Runs and threads that it made
            stay. This can’t be undone; pause the cron to keep it.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
