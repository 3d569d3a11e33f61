import { GitHubApiError } from '../github/github-api.ts';
import type { AppContext } from '../context.ts';
import type { Deliveries } from '../inbox/deliveries.ts';
import type { DeliveryClient, DeliveryAttempt } from '../github/deliveries.ts';

const minute = 60_000;

/** How long GitHub keeps deliveries (ms), and the minimum interval between requests for the same one. */
const heldMs = 3 * 24 * 60 * minute;
const betweenMs = 60 * minute;

/** Overlap with the previous run (ms): its redeliveries may have failed, too. */
const overlapMs = betweenMs + 30 * minute;

/** Limit of redeliveries in one run: they count against GitHub's rate limit, and the next run continues. */
const atOnce = 200;

/** GUIDs in one query to the inbox. */
const requestsAtOnce = 500;

/**
 * Selects the attempts to redeliver: the newest of each delivery that was never received, that never got a 2xx, and
 * that was not requested within the last hour. Oldest first, so that they arrive in their original order.
 */
export function attemptsToRepeat(
  attempts: readonly DeliveryAttempt[],
  notHeld: ReadonlySet<string>,
  now: number,
): DeliveryAttempt[] {
  const byGuid = Map.groupBy(attempts, ({ guid }) => guid);
  return [...byGuid]
    .filter(([guid, tried]) => notHeld.has(guid) && !tried.some(wasTaken))
    .filter(([, tried]) => !tried.some(({ redelivery, deliveredAt }) => redelivery && deliveredAt > now - betweenMs))
    .flatMap(([, tried]) => tried.toSorted((one, other) => other.deliveredAt - one.deliveredAt).slice(0, 1))
    .toSorted((one, other) => one.deliveredAt - other.deliveredAt);
}

/** A proxy in front of the App may accept a delivery and lose it; comparing branch heads finds what was missed then. */
const wasTaken = ({ statusCode }: DeliveryAttempt): boolean => statusCode >= 200 && statusCode < 300;

/**
 * Requests redelivery of what GitHub could not deliver since the last run that left none started (ms since the epoch),
 * or of all that it holds. @returns how many it requested, and left to the next run. @throws GitHubApiError
 */
export async function requestRedeliveries(
  { clock, log }: Pick<AppContext, 'clock' | 'log'>,
  client: DeliveryClient,
  inbox: Pick<Deliveries, 'notHeld'>,
  since: number | undefined,
): Promise<{ requested: number; left: number }> {
  const now = clock.now();
  const attempts = await attemptsSince(client, Math.max(now - heldMs, (since ?? 0) - overlapMs));
  const missed = attemptsToRepeat(attempts, await notHeldOf(attempts, inbox), now);
  let requested = 0;
  for (const { id, guid, event } of missed.slice(0, atOnce)) {
    const about = { delivery: guid, event };
    try {
      await client.askAgain(id);
      requested += 1;
      log.info(about, 'Requested a missed delivery again');
    } catch (error) {
      if (!(error instanceof GitHubApiError) || !undeliverableStatuses.has(error.status)) throw error;
      log.warn(about, `A delivery is lost: ${error.message}`);
    }
  }
  return { requested, left: Math.max(0, missed.length - atOnce) };
}

/** Answers that are about this one delivery: GitHub does not hold it any more, or does not send it again. */
const undeliverableStatuses = new Set<number | undefined>([400, 404, 410, 422]);

/** Every attempt since then. A list that does not go on, or that leads in a ring, ends. */
async function attemptsSince(client: DeliveryClient, from: number): Promise<DeliveryAttempt[]> {
  const attempts: DeliveryAttempt[] = [];
  const met = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { deliveries, next } = await client.page(cursor);
    attempts.push(...deliveries.filter(({ deliveredAt }) => deliveredAt >= from));
    const isEnd = deliveries.length === 0 || deliveries.some(({ deliveredAt }) => deliveredAt < from);
    if (isEnd || next === undefined || met.has(next)) return attempts;
    met.add(next);
    cursor = next;
  }
}

/** Queries only failed deliveries: all others were received. */
async function notHeldOf(
  attempts: readonly DeliveryAttempt[],
  inbox: Pick<Deliveries, 'notHeld'>,
): Promise<ReadonlySet<string>> {
  const taken = new Set(attempts.filter(wasTaken).map(({ guid }) => guid));
  const failed = [...new Set(attempts.map(({ guid }) => guid))].filter((guid) => !taken.has(guid));
  const missing = new Set<string>();
  for (let from = 0; from < failed.length; from += requestsAtOnce) {
    for (const guid of await inbox.notHeld(failed.slice(from, from + requestsAtOnce))) missing.add(guid);
  }
  return missing;
}
