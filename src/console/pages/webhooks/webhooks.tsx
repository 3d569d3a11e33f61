import * as z from 'zod';
import { deliveryStatuses, webhookDelivery, type WebhookDelivery } from '../../../contract/agent/webhook.ts';
import { agentPath } from '../../api/agent-access.ts';
import { useAction } from '../../api/use-form.ts';
import { call, send } from '../../api/http.ts';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { deploymentPage } from '../../parts/deployment-page.tsx';
import { Empty, List } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { announce } from '../../parts/toasts.tsx';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/table.tsx';
import { FilterSelect } from '../../parts/field.tsx';

const states: Readonly<Record<WebhookDelivery['status'], { label: string; tone: Tone }>> = {
  pending: { label: 'Pending', tone: 'busy' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
};

/** The deliveries of an agent's webhooks. */
export default deploymentPage('Webhooks', DeliveryList);

const everyMs = 5_000;

function DeliveryList({ deploymentId }: { deploymentId: string }) {
  const [query, change] = useAddressQuery();
  const status = deliveryStatuses.find((known) => known === query['status']);
  const list = useList(
    `${deploymentId} ${status}`,
    ({ delivery_id }: WebhookDelivery) => delivery_id,
    (page, signal) =>
      call('GET', agentPath(deploymentId, 'webhooks', 'deliveries'), z.array(webhookDelivery), {
        query: { ...page, status },
        signal,
      }),
    { everyMs },
  );
  return (
    <>
      <search class="row list-filters">
        <FilterSelect
          label="Status"
          value={status ?? ''}
          none="Any status"
          options={deliveryStatuses.map((value) => ({ value, label: states[value].label }))}
          onChange={(chosen) => change({ status: chosen })}
        />
      </search>
      <List
        list={list}
        what="the deliveries"
        deploymentId={deploymentId}
        empty={
          status === undefined ? (
            <Empty title="No webhooks yet">
              <p>
                A run or a cron that is started with <code>webhook</code> sends its end to that address. The deliveries
                of the last 7 days appear here.
              </p>
            </Empty>
          ) : (
            <Empty title="No delivery has this status">
              <a class="button" href={paths.webhooks(deploymentId)}>
                Show all deliveries
              </a>
            </Empty>
          )
        }
      >
        {(deliveries) => (
          <Table
            label="Deliveries"
            columns={['Address', 'Status', 'Run', 'Attempts', 'Last result', 'Next attempt', 'Send again']}
            class="list-table webhooks-table"
          >
            {deliveries.map((delivery) => (
              <DeliveryRow
                key={delivery.delivery_id}
                deploymentId={deploymentId}
                delivery={delivery}
                reload={list.reload}
              />
            ))}
          </Table>
        )}
      </List>
    </>
  );
}

interface DeliveryRowProps {
  deploymentId: string;
  delivery: WebhookDelivery;
  reload: () => Promise<void>;
}

function DeliveryRow({ deploymentId, delivery, reload }: DeliveryRowProps) {
  const [isBusy, run] = useAction();
  const { delivery_id, run_id, status, url, attempts, next_attempt_at } = delivery;
  const { label, tone } = states[status];
  const retry = (): Promise<void> =>
    run(async () => {
      await send('POST', agentPath(deploymentId, 'webhooks', 'deliveries', delivery_id, 'retry'));
      announce('The webhook is being sent again.');
      await reload();
    });
  const { host, path } = placeOf(url);
  return (
    <tr>
      <th scope="row" class="webhooks-address">
        <Untrusted text={host} longest={200} />
        <div class="muted">
          <Untrusted text={path} longest={200} />
        </div>
      </th>
      <td>
        <Badge tone={tone}>{label}</Badge>
      </td>
      <td>
        <IdLink to={paths.run} deploymentId={deploymentId} id={run_id} />
      </td>
      <td>{attempts}</td>
      <td class="webhooks-result">
        <LastResult delivery={delivery} />
      </td>
      <td>{next_attempt_at === null ? <span class="muted">none</span> : <TimeAgo at={next_attempt_at} />}</td>
      <td>
        {status === 'pending' ? (
          <span class="muted">in delivery</span>
        ) : (
          <Button
            label={`Send again the webhook of run ${run_id.slice(0, 8)}`}
            aria-disabled={isBusy}
            onClick={() => void retry()}
          >
            Send again
          </Button>
        )}
      </td>
    </tr>
  );
}

function LastResult({ delivery }: { delivery: WebhookDelivery }) {
  const { last_attempt_at, last_status_code, last_error, status } = delivery;
  return (
    <>
      {last_status_code !== null && <span>Response {last_status_code}, </span>}
      {last_attempt_at === null ? <span class="muted">not sent yet </span> : <TimeAgo at={last_attempt_at} />}
      {last_error !== null && (
        <div class={status === 'failed' ? 'failed' : 'muted'}>
          <Untrusted text={last_error} longest={500} />
        </div>
      )}
    </>
  );
}

/** The host and the path of a URL. A path alone is on the agent's own server. */
function placeOf(url: string): { host: string; path: string } {
  if (!URL.canParse(url)) return { host: 'The agent itself', path: shownText(url, 500) };
  const { host, pathname } = new URL(url);
  return { host, path: pathname };
}
