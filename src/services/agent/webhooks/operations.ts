import * as z from 'zod';
import { deliveryStatuses, webhookDelivery, type WebhookDelivery } from '../../../contract/agent/webhook.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { pageLimit, pathId, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { missing, Refusal } from '../refusal.ts';
import type { ListedDelivery } from './deliveries.ts';

const listQuery = z.looseObject({
  limit: pageLimit(),
  offset: z.coerce.number().int().min(0).default(0),
  status: z.enum(deliveryStatuses).optional(),
  run_id: z.uuid().optional(),
});

const all = '/webhooks/deliveries';
const define = operationsOf('Webhooks');

/** The deliveries of webhooks: additions of ours. */
export const webhookOperations: readonly Operation<Env>[] = [
  define.get(all, 'list_webhook_deliveries', {
    summary: 'List the deliveries of webhooks',
    description: 'Those of the runs that ended last first. The newest 1,000 that ended are kept for 7 days.',
    query: listQuery,
    responses: { 200: { description: 'A page of deliveries.', schema: z.array(webhookDelivery) } },
    async handle(c) {
      const { deliveries, clock } = c.var.dependencies;
      const { limit, offset, status, run_id } = readQuery(c, listQuery);
      const query = { limit, offset, state: status, runId: run_id?.toLowerCase(), now: clock.now() };
      return c.json((await deliveries.list(query)).map(toDeliveryResponse));
    },
  }),
  define.post(`${all}/:delivery_id/retry`, 'retry_webhook_delivery', {
    summary: 'Send a webhook again',
    description:
      'At once, with the same `webhook-id`. Its attempts are counted on. A payload of more than 64 KiB is not kept, and refused.',
    responses: { 202: { description: 'It will be sent.' } },
    also: [409],
    async handle(c) {
      const { deliveries, clock } = c.var.dependencies;
      const id = pathId(c, 'delivery_id');
      if (await deliveries.retry(id, clock.now())) return c.body(null, 202);
      if (await deliveries.isPending(id))
        throw new Refusal(409, `The webhook of run ${id} is still being delivered. Wait for its next attempt.`);
      if (await deliveries.isCut(id))
        throw new Refusal(409, `The payload of run ${id} was too large to keep. Its webhook can't be sent again.`);
      throw missing(`There is no delivery ${id}. List those that are kept: GET ${all}.`);
    },
  }),
];

const toDeliveryResponse = (delivery: ListedDelivery): WebhookDelivery => ({
  delivery_id: delivery.run_id,
  run_id: delivery.run_id,
  thread_id: delivery.stateless ? null : delivery.thread_id,
  status: delivery.state,
  url: withoutSecrets(delivery.url),
  attempts: delivery.attempts,
  last_attempt_at: delivery.attempted_at?.toISOString() ?? null,
  last_status_code: delivery.last_status,
  last_error: delivery.last_reason,
  next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
  run_ended_at: delivery.ended_at?.toISOString() ?? null,
  settled_at: delivery.settled_at?.toISOString() ?? null,
});

/**
 * The origin and the first part of the path of a webhook's address, without name, password, query and fragment: all
 * others may hold tokens, as those of Slack, Discord and Teams do. An address of the agent itself is shown with its path.
 */
export function withoutSecrets(address: string): string {
  if (address.startsWith('/')) return address.split(/[?#]/, 1)[0] ?? '';
  if (!URL.canParse(address)) return '';
  const { origin, pathname } = new URL(address);
  const [, first = '', ...others] = pathname.split('/');
  return `${origin}/${first}${others.some((part) => part !== '') ? '/…' : ''}`;
}
