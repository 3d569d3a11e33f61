import type { GitHubClient } from '../../src/github/client.ts';
import type { AppRoute } from './installation-clients.ts';

/** GitHub's attempt to deliver a webhook to the App. Attempts of one delivery share its GUID. */
export interface DeliveryAttempt {
  /** The id of this attempt, for requesting a redelivery. */
  id: number;
  guid: string;
  event: string;
  /** Whether this attempt was requested, by the App or by a person. */
  redelivery: boolean;
  /** ms since the epoch */
  deliveredAt: number;
  /** The status of the App's response; 0 without a response. */
  statusCode: number;
}

/** A page of GitHub's list, newest first. `next` is the cursor of the next page; absent on the last one. */
interface DeliveryPage {
  deliveries: readonly DeliveryAttempt[];
  next?: string;
}

/** The App's webhook deliveries as GitHub stores them. Fails with `GitHubApiError`. */
export interface DeliveryClient {
  page(cursor?: string): Promise<DeliveryPage>;
  requestRedelivery(id: number): Promise<void>;
}

const pageSize = 100;

/** @param app a client that authenticates as the App itself */
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
    requestRedelivery: async (id) => {
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
