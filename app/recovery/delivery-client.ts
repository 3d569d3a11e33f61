/** One attempt of GitHub's to deliver a webhook to the App. Attempts of one delivery share its GUID. */
export interface HeldDelivery {
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

/** A part of GitHub's list, newest first. `next` leads to older ones; absent on the last page. */
export interface DeliveryPage {
  deliveries: readonly HeldDelivery[];
  next?: string;
}

/**
 * GitHub's webhook deliveries: `GET /app/hook/deliveries` and `POST /app/hook/deliveries/{id}/attempts`. Fails with
 * `GitHubApiError`.
 */
export interface DeliveryClient {
  page(cursor?: string): Promise<DeliveryPage>;
  askAgain(id: number): Promise<void>;
}
