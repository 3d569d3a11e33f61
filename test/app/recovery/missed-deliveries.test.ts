import { silentLogger } from '../../../src/kit/logger.ts';
import { describe, expect, test } from 'vitest';
import { GitHubApiError } from '../../../app/github/github-api.ts';
import type { DeliveryClient, DeliveryAttempt } from '../../../app/github/deliveries.ts';
import { requestRedeliveries, attemptsToRepeat } from '../../../app/recovery/missed-deliveries.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';

const minute = 60_000;
const now = Date.parse('2026-11-21T12:00:00Z');
const tried = (
  id: number,
  guid: string,
  minutesAgo: number,
  statusCode: number,
  redelivery = false,
): DeliveryAttempt => ({
  id,
  guid,
  event: 'push',
  redelivery,
  deliveredAt: now - minutesAgo * minute,
  statusCode,
});

describe('requests a redelivery', () => {
  test.each<[string, DeliveryAttempt[], number[]]>([
    ['of one without a response', [tried(1, 'a', 5, 0)], [1]],
    ['of one with an error response', [tried(1, 'a', 5, 503)], [1]],
    ['of one that was refused', [tried(1, 'a', 5, 401)], [1]],
    ['of none that was accepted', [tried(1, 'a', 5, 202)], []],
    ['of none that was accepted at a later attempt', [tried(2, 'a', 5, 202, true), tried(1, 'a', 90, 502)], []],
    ['of none that is stored', [tried(1, 'here', 5, 502)], []],
    ['of none requested within the hour', [tried(2, 'a', 59, 502, true), tried(1, 'a', 90, 502)], []],
    ['of one requested before that', [tried(2, 'a', 61, 502, true), tried(1, 'a', 90, 502)], [2]],
    [
      'of each delivery once, the oldest first',
      [tried(3, 'b', 1, 0), tried(2, 'a', 61, 0, true), tried(1, 'a', 90, 0)],
      [2, 3],
    ],
  ])('%s', (_, attempts, ids) => {
    const notHeld = new Set(attempts.map(({ guid }) => guid).filter((guid) => guid !== 'here'));
    expect(attemptsToRepeat(attempts, notHeld, now).map(({ id }) => id)).toEqual(ids);
  });
});

/** GitHub's list, newest first, two attempts a page. */
class ListedDeliveries implements DeliveryClient {
  readonly requested: number[] = [];
  pages = 0;
  readonly #all: DeliveryAttempt[];
  constructor(all: readonly DeliveryAttempt[]) {
    this.#all = all.toSorted((one, other) => other.deliveredAt - one.deliveredAt);
  }
  async page(cursor = '0') {
    this.pages += 1;
    const from = Number(cursor);
    const deliveries = this.#all.slice(from, from + 2);
    return from + 2 < this.#all.length ? { deliveries, next: String(from + 2) } : { deliveries };
  }
  async requestRedelivery(id: number): Promise<void> {
    this.requested.push(id);
  }
}

const inbox = { neverReceived: async (guids: readonly string[]) => guids.filter((guid) => !guid.startsWith('here')) };
const at = (clock = new SimulatedClock(now)) => ({ clock, log: silentLogger });

describe('a run', () => {
  const all = [
    tried(9, 'here-1', 1, 502),
    tried(8, 'a', 10, 502),
    tried(7, 'b', 30, 202),
    tried(6, 'c', 95, 0),
    tried(5, 'd', 24 * 60, 0),
    tried(4, 'e', 71 * 60, 0),
    tried(3, 'f', 73 * 60, 0),
    tried(2, 'g', 74 * 60, 0),
    tried(1, 'h', 75 * 60, 0),
  ];

  test('without a previous one checks three days', async () => {
    const client = new ListedDeliveries(all);
    expect(await requestRedeliveries(at(), client, inbox, undefined)).toEqual({ requested: 4, remaining: 0 });
    expect(client.requested).toEqual([4, 5, 6, 8]);
    expect(client.pages).toBe(4);
  });

  test('after another looks back to it, and over what it may have requested in vain', async () => {
    const client = new ListedDeliveries(all);
    await requestRedeliveries(at(), client, inbox, now - 10 * minute);
    expect(client.requested).toEqual([6, 8]);
    expect(client.pages).toBe(3);
  });

  test('ends a cyclic list', async () => {
    const ring: DeliveryClient = {
      page: async () => ({ deliveries: [tried(1, 'here', 1, 202)], next: 'again' }),
      requestRedelivery: async () => undefined,
    };
    expect(await requestRedeliveries(at(), ring, inbox, undefined)).toEqual({ requested: 0, remaining: 0 });
  });

  test('requests 200 at most, the oldest first', async () => {
    const many = Array.from({ length: 450 }, (_, nth) => tried(nth + 1, `guid-${nth}`, 460 - nth, 0));
    const client = new ListedDeliveries(many);
    expect(await requestRedeliveries(at(), client, inbox, undefined)).toEqual({ requested: 200, remaining: 250 });
    expect(client.requested.slice(0, 2)).toEqual([1, 2]);
  });

  test('skips what GitHub refuses to redeliver, and requests the rest', async () => {
    const client = new ListedDeliveries([tried(2, 'b', 10, 0), tried(1, 'a', 20, 0)]);
    const ask = client.requestRedelivery.bind(client);
    client.requestRedelivery = async (id) => {
      if (id === 1) throw new GitHubApiError('redeliver: answered 404', 404, 'none');
      await ask(id);
    };
    expect(await requestRedeliveries(at(), client, inbox, undefined)).toEqual({ requested: 1, remaining: 0 });
    expect(client.requested).toEqual([2]);
  });

  test('ends if GitHub fails as a whole', async () => {
    const client = new ListedDeliveries([tried(1, 'a', 20, 0)]);
    client.requestRedelivery = () => Promise.reject(new GitHubApiError('redeliver: answered 502', 502, 'unknown'));
    await expect(requestRedeliveries(at(), client, inbox, undefined)).rejects.toThrow('answered 502');
  });
});
