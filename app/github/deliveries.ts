import type { GitHubClient } from '../../src/github/client.ts';
import type { DeliveryClient } from '../recovery/delivery-client.ts';
import type { AppRoute } from './octokit.ts';

const pageSize = 100;

/**
 * The App's webhook deliveries as GitHub stores them.
 *
 * @param app a client that authenticates as the App itself
 */
export function createDeliveryClient(app: GitHubClient<AppRoute>): DeliveryClient {
  return {
    page: async (cursor?: string) => {
      const { data, headers } = await app.request('GET /app/hook/deliveries', {
        per_page: pageSize,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const deliveries = data.map(({ id, guid, event, redelivery, delivered_at, status_code }) => ({
        id: Number(id),
        guid,
        event,
        redelivery,
        deliveredAt: Date.parse(delivered_at),
        statusCode: status_code,
      }));
      const next = nextCursor(headers.link);
      return { deliveries, ...(next === undefined ? {} : { next }) };
    },
    askAgain: async (id) => {
      await app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: id });
    },
  };
}

/** The cursor of the `next` address in a `Link` header. */
export function nextCursor(link: string | undefined): string | undefined {
  const address = /<([^<>]*)>; ?rel="next"/.exec(link ?? '')?.[1];
  return address !== undefined && URL.canParse(address)
    ? (new URL(address).searchParams.get('cursor') ?? undefined)
    : undefined;
}
