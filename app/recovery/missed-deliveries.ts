import { GitHubApiError } from '../github/github-api.ts';
import type { AppContext } from '../context.ts';
import type { Deliveries } from '../inbox/deliveries.ts';
import type { DeliveryClient, DeliveryAttempt } from '../github/deliveries.ts';

const minute = 60_000;

/** How long GitHub keeps deliveries (ms), and the minimum interval between requests for the same one. */
const githubRetentionMs = 3 * 24 * 60 * minute;
const minRedeliveryIntervalMs = 60 * minute;

/** Overlap with the previous run (ms): its redeliveries may have failed, too. */
const overlapMs = minRedeliveryIntervalMs + 30 * minute;

/** Limit of redeliveries in one run: they count against GitHub's rate limit, and the next run continues. */
const maxRedeliveries = 200;

/** GUIDs in one query to the inbox. */
const guidsPerQuery = 500;

/**
 * Selects the attempts to redeliver: the newest of each delivery that was never received, that never got a 2xx, and
 * that was not requested within the last hour. Oldest first, so that they arrive in their original order.
 */
export function attemptsToRepeat(
  attempts: readonly DeliveryAttempt[],
  neverReceived: ReadonlySet<string>,
  now: number,
): DeliveryAttempt[] {
  const byGuid = Map.groupBy(attempts, ({ guid }) => guid);
  return [...byGuid]
    .filter(([guid, ofDelivery]) => neverReceived.has(guid) && !ofDelivery.some(wasAccepted))
    .filter(
      ([, ofDelivery]) =>
        !ofDelivery.some(({ redelivery, deliveredAt }) => redelivery && deliveredAt > now - minRedeliveryIntervalMs),
    )
    .flatMap(([, ofDelivery]) => ofDelivery.toSorted((one, other) => other.deliveredAt - one.deliveredAt).slice(0, 1))
    .toSorted((one, other) => one.deliveredAt - other.deliveredAt);
}

/** A proxy in front of the App may accept a delivery and lose it; comparing branch heads finds what was missed then. */
const wasAccepted = ({ statusCode }: DeliveryAttempt): boolean => statusCode >= 200 && statusCode < 300;

/**
 * Requests redelivery of what GitHub could not deliver.
 *
 * @param since the start of the last complete run (ms since the epoch); by default all stored deliveries are checked.
 * @returns how many it requested, and how many it left to the next run.
 * @throws GitHubApiError
 */
export async function requestRedeliveries(
  { clock, log }: Pick<AppContext, 'clock' | 'log'>,
  client: DeliveryClient,
  inbox: Pick<Deliveries, 'neverReceived'>,
  since: number | undefined,
): Promise<{ requested: number; remaining: number }> {
  const now = clock.now();
  const attempts = await attemptsSince(client, Math.max(now - githubRetentionMs, (since ?? 0) - overlapMs));
  const missed = attemptsToRepeat(attempts, await findNeverReceived(attempts, inbox), now);
  let requested = 0;
  for (const { id, guid, event } of missed.slice(0, maxRedeliveries)) {
    const about = { delivery: guid, event };
    try {
      await client.requestRedelivery(id);
      requested += 1;
      log.info(about, 'Requested a missed delivery again');
    } catch (error) {
      if (!(error instanceof GitHubApiError) || !undeliverableStatuses.has(error.status)) throw error;
      log.warn(about, `A delivery is lost: ${error.message}`);
    }
  }
  return { requested, remaining: Math.max(0, missed.length - maxRedeliveries) };
}

/** Statuses that concern a single delivery: GitHub no longer stores it, or refuses to send it again. */
const undeliverableStatuses = new Set<number | undefined>([400, 404, 410, 422]);

/** Every attempt since a time. Stops at the last page, and at a cursor that was already read. */
async function attemptsSince(client: DeliveryClient, from: number): Promise<DeliveryAttempt[]> {
  const attempts: DeliveryAttempt[] = [];
  const seenCursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { deliveries, next } = await client.page(cursor);
    attempts.push(...deliveries.filter(({ deliveredAt }) => deliveredAt >= from));
    const isEnd = deliveries.length === 0 || deliveries.some(({ deliveredAt }) => deliveredAt < from);
    if (isEnd || next === undefined || seenCursors.has(next)) return attempts;
    seenCursors.add(next);
    cursor = next;
  }
}

/** The deliveries that were never received. Queries only failed ones, because all others were received. */
async function findNeverReceived(
  attempts: readonly DeliveryAttempt[],
  inbox: Pick<Deliveries, 'neverReceived'>,
): Promise<ReadonlySet<string>> {
  const accepted = new Set(attempts.filter(wasAccepted).map(({ guid }) => guid));
  const failed = [...new Set(attempts.map(({ guid }) => guid))].filter((guid) => !accepted.has(guid));
  const missing = new Set<string>();
  for (let from = 0; from < failed.length; from += guidsPerQuery) {
    for (const guid of await inbox.neverReceived(failed.slice(from, from + guidsPerQuery))) missing.add(guid);
  }
  return missing;
}
