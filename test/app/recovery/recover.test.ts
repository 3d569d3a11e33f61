import { beforeEach, describe, expect, test } from 'vitest';
import { HubError } from '../../../app/github/hub.ts';
import { intentsKept, keepHouse, workKeptForMs } from '../../../app/recovery/keep-house.ts';
import { recover, type RecoveryDesks } from '../../../app/recovery/recover.ts';
import type { RepositoryAt } from '../../../app/repository.ts';
import { serviceError } from '../../deploy/control-model.ts';
import { targetsOn, ToldWorld } from '../handlers/told-world.ts';
import { checkSaying, commitOf, repository, wishOf } from '../work/wishes.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
let told: ToldWorld;
let head: string;
let asked: number[];
let toldAgain: string[];
let desks: RecoveryDesks;

async function* each(...repositories: RepositoryAt[]): AsyncGenerator<RepositoryAt> {
  yield* repositories;
}

beforeEach(async () => {
  told = new ToldWorld();
  told.branches.set('main', targetsOn('main', 'support'));
  told.control.still.set('d-support', { revisions: [{ id: 'r1', status: 'BUILD_FAILED', commit: 'e'.repeat(40) }] });
  head = told.commit();
  await told.clock.sleep(5 * minute);
  asked = [];
  toldAgain = [];
  desks = {
    deliveries: {
      page: async () => ({
        deliveries: [
          { id: 7, guid: 'a', event: 'push', redelivery: false, deliveredAt: told.clock.now() - minute, statusCode: 0 },
        ],
      }),
      askAgain: async (id) => void asked.push(id),
    },
    inbox: { notHeld: async (guids) => [...guids], forget: async () => 3 },
    repositories: { repositories: () => each(repository) },
    tellReports: async (ids) => void toldAgain.push(...ids),
  };
});

describe('a run', () => {
  test('asks for deliveries, looks at heads, and clears away', async () => {
    expect(await recover(told.world, desks, undefined)).toEqual({
      since: told.clock.now(),
      askedAgain: 1,
      heads: { branches: 1, recovered: 1, failed: 0, paused: 0 },
      house: { removed: 3, woken: 0, toldAgain: 0 },
    });
    expect(asked).toEqual([7]);
    expect(told.intents()).toMatchObject([{ commit: head, cause: { kind: 'recovery' } }]);
  });

  test('whose deliveries GitHub does not list does the rest, and the next one looks back further', async () => {
    desks.deliveries.page = () => Promise.reject(new HubError('list deliveries: answered 502', 502, 'none'));
    const done = await recover(told.world, desks, 42);
    expect(done).toMatchObject({ heads: { recovered: 1 }, house: { removed: 3 } });
    expect(done).not.toHaveProperty('since');
    expect(told.log).toContain('Deliveries that never came could not be asked for: list deliveries: answered 502');
  });

  test('that leaves deliveries over has the next one look as far back as it did', async () => {
    const deliveries = Array.from({ length: 201 }, (_, id) => ({
      id,
      guid: `guid-${id}`,
      event: 'push',
      redelivery: false,
      deliveredAt: told.clock.now() - minute,
      statusCode: 0,
    }));
    desks.deliveries.page = async () => ({ deliveries });
    const done = await recover(told.world, desks, 42);
    expect(done.askedAgain).toBe(200);
    expect(done).not.toHaveProperty('since');
  });

  test('while the service is away asks for deliveries all the same', async () => {
    told.control.listDeployments = () => Promise.reject(serviceError('unreachable', 'list deployments'));
    expect(await recover(told.world, desks, undefined)).toMatchObject({ askedAgain: 1, house: { removed: 3 } });
    expect(told.intents()).toEqual([]);
  });

  test('that meets a mistake of our own fails, so that it is seen', async () => {
    desks.inbox.notHeld = () => Promise.reject(new TypeError('undefined is not a function'));
    await expect(recover(told.world, desks, undefined)).rejects.toThrow(TypeError);
  });

  test('that is ended stops between repositories', async () => {
    const ending = AbortSignal.abort(new Error('the process ends'));
    await expect(recover(told.world, desks, undefined, ending)).rejects.toThrow('the process ends');
  });
});

describe('keeping house', () => {
  const keep = () => keepHouse(told.world, desks.inbox, desks.tellReports);
  const ended = async (nth: number) => {
    const commit = nth.toString(16).padStart(40, '0');
    const intent = await told.store.wish(wishOf(commit, { key: `key-${nth}` }));
    if (!intent) throw new Error('it was known');
    await told.save(intent, { state: 'ended', end: { kind: 'deployed', reason: 'live', at: told.clock.now() } });
  };

  test('gives each lane that is busy, and each report that was not told, its job again', async () => {
    await told.store.wish(wishOf(commitOf('a')));
    await told.store.putReport(checkSaying('Queued', commitOf('a')));
    await told.clock.sleep(10 * minute);
    told.jobs.length = 0;
    const [untold] = await told.store.untoldReports();
    expect(await keep()).toMatchObject({ woken: 1, toldAgain: 1 });
    expect(told.jobs).toEqual(['lane deployment-1']);
    expect(toldAgain).toEqual([untold]);
  });

  test('keeps what ended for two weeks, and longer what is among the newest of its deployment', async () => {
    for (let nth = 1; nth <= intentsKept + 5; nth += 1) await ended(nth);
    await told.clock.sleep(workKeptForMs - minute);
    expect(await keep()).toMatchObject({ removed: 3 });
    await told.clock.sleep(2 * minute);
    expect(await keep()).toMatchObject({ removed: 3 + 5 });
    expect(told.intents()).toHaveLength(intentsKept);
    await told.clock.sleep(365 * day);
    await keep();
    expect(told.intents()).toHaveLength(intentsKept);
  });

  test('keeps for at least the seven days in which a replay is to be known', () => {
    expect(workKeptForMs).toBeGreaterThanOrEqual(7 * day);
  });
});
