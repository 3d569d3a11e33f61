import { HubError } from '../github/hub.ts';
import type { World } from '../world.ts';
import type { DeliveryDesk, HeldDelivery } from './delivery-desk.ts';

/** The inbox as far as recovery needs it. */
export interface InboxDesk {
  /** Those of these GUIDs that never came here. */
  notHeld(guids: readonly string[]): Promise<string[]>;
  /** Removes deliveries that are old enough. @returns how many went. */
  forget(): Promise<number>;
}

const minute = 60_000;

/** How long GitHub keeps deliveries (ms), and how often the same one is asked for. */
const heldMs = 3 * 24 * 60 * minute;
const betweenMs = 60 * minute;

/** How much further back a run looks than where the last one began (ms): what that one asked for may have failed, too. */
const overlapMs = betweenMs + 30 * minute;

/** Deliveries asked for in one run at most: GitHub counts them, and the next run goes on. */
const atOnce = 200;

/** How many GUIDs the inbox is asked about at a time. */
const askedAtOnce = 500;

/**
 * Which attempts to ask for again: the newest of each delivery that never came here, that no attempt of got a 2xx, and
 * that was not asked for within the last hour. Oldest first, so that they come in the order in which things happened.
 */
export function attemptsToRepeat(
  attempts: readonly HeldDelivery[],
  notHeld: ReadonlySet<string>,
  now: number,
): HeldDelivery[] {
  const byGuid = Map.groupBy(attempts, ({ guid }) => guid);
  return [...byGuid]
    .filter(([guid, tried]) => notHeld.has(guid) && !tried.some(wasTaken))
    .filter(([, tried]) => !tried.some(({ redelivery, deliveredAt }) => redelivery && deliveredAt > now - betweenMs))
    .flatMap(([, tried]) => tried.toSorted((one, other) => other.deliveredAt - one.deliveredAt).slice(0, 1))
    .toSorted((one, other) => one.deliveredAt - other.deliveredAt);
}

/** An address that stands before ours may take a delivery and lose it; the branch heads tell what was missed then. */
const wasTaken = ({ statusCode }: HeldDelivery): boolean => statusCode >= 200 && statusCode < 300;

/** What a run asked GitHub for, and how many deliveries it left to the next one. */
export interface AskedForMissed {
  asked: number;
  left: number;
}

/**
 * Asks GitHub for the deliveries that it could not bring.
 *
 * @param since when the last run that left none began (ms since the epoch); absent: everything that GitHub holds is
 *   looked at.
 * @throws HubError
 */
export async function askForMissed(
  { clock, log }: Pick<World, 'clock' | 'log'>,
  desk: DeliveryDesk,
  inbox: Pick<InboxDesk, 'notHeld'>,
  since: number | undefined,
): Promise<AskedForMissed> {
  const now = clock.now();
  const attempts = await attemptsSince(desk, Math.max(now - heldMs, (since ?? 0) - overlapMs));
  const missed = attemptsToRepeat(attempts, await notHeldOf(attempts, inbox), now);
  let asked = 0;
  for (const { id, guid, event } of missed.slice(0, atOnce)) {
    const refusal = await askOnce(desk, id);
    if (refusal === undefined) asked += 1;
    log(refusal === undefined ? 'A delivery that never came is asked for again' : `A delivery is lost: ${refusal}`, {
      delivery: guid,
      event,
    });
  }
  return { asked, left: Math.max(0, missed.length - atOnce) };
}

/** Answers that are about this one delivery: GitHub does not hold it any more, or does not send it again. */
const aboutThisOne = new Set([400, 404, 410, 422]);

/** Why GitHub does not send this one again; what else goes wrong is thrown. */
async function askOnce(desk: DeliveryDesk, id: number): Promise<string | undefined> {
  try {
    await desk.askAgain(id);
    return undefined;
  } catch (error) {
    if (error instanceof HubError && error.status !== undefined && aboutThisOne.has(error.status)) return error.message;
    throw error;
  }
}

/** Every attempt since then. A list that does not go on, or that leads in a ring, ends. */
async function attemptsSince(desk: DeliveryDesk, from: number): Promise<HeldDelivery[]> {
  const attempts: HeldDelivery[] = [];
  const met = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { deliveries, next } = await desk.page(cursor);
    attempts.push(...deliveries.filter(({ deliveredAt }) => deliveredAt >= from));
    const isEnd = deliveries.length === 0 || deliveries.some(({ deliveredAt }) => deliveredAt < from);
    if (isEnd || next === undefined || met.has(next)) return attempts;
    met.add(next);
    cursor = next;
  }
}

/** Only what failed is asked about: the inbox need not be searched for what it surely has. */
async function notHeldOf(
  attempts: readonly HeldDelivery[],
  inbox: Pick<InboxDesk, 'notHeld'>,
): Promise<ReadonlySet<string>> {
  const taken = new Set(attempts.filter(wasTaken).map(({ guid }) => guid));
  const failed = [...new Set(attempts.map(({ guid }) => guid))].filter((guid) => !taken.has(guid));
  const missing = new Set<string>();
  for (let from = 0; from < failed.length; from += askedAtOnce) {
    for (const guid of await inbox.notHeld(failed.slice(from, from + askedAtOnce))) missing.add(guid);
  }
  return missing;
}
