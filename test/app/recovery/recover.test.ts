import { beforeEach, describe, expect, test } from 'vitest';
import { GitHubApiError, type InstallationRepository } from '../../../app/github/github-api.ts';
import {
  minKeptIntents,
  runMaintenance,
  workRetentionMs,
  recover,
  type RecoveryClients,
} from '../../../app/recovery/recover.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { targetsOn, HandlerFixture } from '../events/handler-fixture.ts';
import { checkSaying, commitOf, repository, requestOf } from '../reconcile/requests.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
let fixture: HandlerFixture;
let head: string;
let requested: number[];
let reportedAgain: string[];
let clients: RecoveryClients;

async function* each(...repositories: InstallationRepository[]): AsyncGenerator<InstallationRepository> {
  yield* repositories;
}

beforeEach(async () => {
  fixture = new HandlerFixture();
  fixture.branches.set('main', targetsOn('main', 'support'));
  fixture.control.still.set('d-support', { revisions: [{ id: 'r1', status: 'BUILD_FAILED', commit: 'e'.repeat(40) }] });
  head = fixture.commit();
  await fixture.clock.sleep(5 * minute);
  requested = [];
  reportedAgain = [];
  clients = {
    deliveries: {
      page: async () => ({
        deliveries: [
          {
            id: 7,
            guid: 'a',
            event: 'push',
            redelivery: false,
            deliveredAt: fixture.clock.now() - minute,
            statusCode: 0,
          },
        ],
      }),
      requestRedelivery: async (id) => void requested.push(id),
    },
    inbox: { neverReceived: async (guids) => [...guids], prune: async () => 3 },
    repositories: { repositories: () => each(repository) },
    enqueueReports: async (ids) => void reportedAgain.push(...ids),
  };
});

describe('a run', () => {
  test('requests deliveries, compares heads, and prunes', async () => {
    expect(await recover(fixture.context, clients, undefined)).toEqual({
      since: fixture.clock.now(),
      requestedAgain: 1,
      heads: { branches: 1, recovered: 1, failed: 0, paused: 0 },
      maintenance: { removed: 3, notified: 0, reportedAgain: 0 },
    });
    expect(requested).toEqual([7]);
    expect(fixture.intents()).toMatchObject([{ commit: head, cause: { kind: 'recovery' } }]);
  });

  test("without GitHub's list of deliveries does the rest; the next looks back further", async () => {
    clients.deliveries.page = () => Promise.reject(new GitHubApiError('list deliveries: answered 502', 502, 'none'));
    const done = await recover(fixture.context, clients, 42);
    expect(done).toMatchObject({ heads: { recovered: 1 }, maintenance: { removed: 3 } });
    expect(done).not.toHaveProperty('since');
    expect(fixture.log).toContain('Missed deliveries could not be requested: list deliveries: answered 502');
  });

  test('that leaves deliveries over makes the next one look as far back', async () => {
    const deliveries = Array.from({ length: 201 }, (_, id) => ({
      id,
      guid: `guid-${id}`,
      event: 'push',
      redelivery: false,
      deliveredAt: fixture.clock.now() - minute,
      statusCode: 0,
    }));
    clients.deliveries.page = async () => ({ deliveries });
    const done = await recover(fixture.context, clients, 42);
    expect(done.requestedAgain).toBe(200);
    expect(done).not.toHaveProperty('since');
  });

  test('requests deliveries also while the service is away', async () => {
    fixture.control.listDeployments = () => Promise.reject(serviceError('unreachable', 'list deployments'));
    expect(await recover(fixture.context, clients, undefined)).toMatchObject({
      requestedAgain: 1,
      maintenance: { removed: 3 },
    });
    expect(fixture.intents()).toEqual([]);
  });

  test('with an internal error fails', async () => {
    clients.inbox.neverReceived = () => Promise.reject(new TypeError('undefined is not a function'));
    await expect(recover(fixture.context, clients, undefined)).rejects.toThrow(TypeError);
  });

  test('that is aborted stops between repositories', async () => {
    const ending = AbortSignal.abort(new Error('the process ends'));
    await expect(recover(fixture.context, clients, undefined, ending)).rejects.toThrow('the process ends');
  });
});

describe('maintenance', () => {
  const keep = () => runMaintenance(fixture.context, clients.inbox, clients.enqueueReports);
  const ended = async (nth: number) => {
    const commit = nth.toString(16).padStart(40, '0');
    const intent = await fixture.store.request(requestOf(commit, { key: `key-${nth}` }));
    if (!intent) throw new Error('it was known');
    await fixture.save({
      ...intent,
      state: 'ended',
      end: { kind: 'deployed', reason: 'live', at: fixture.clock.now() },
    });
  };

  test('gives each busy queue, and each pending report, its job again', async () => {
    await fixture.store.request(requestOf(commitOf('a')));
    await fixture.store.putReport(checkSaying('Queued', commitOf('a')));
    await fixture.clock.sleep(10 * minute);
    fixture.jobs.length = 0;
    const [unreported] = await fixture.store.pendingReports();
    expect(await keep()).toMatchObject({ notified: 1, reportedAgain: 1 });
    expect(fixture.jobs).toEqual(['lane deployment-1']);
    expect(reportedAgain).toEqual([unreported]);
  });

  test('keeps finished work for two weeks, and the newest of a deployment for longer', async () => {
    for (let nth = 1; nth <= minKeptIntents + 5; nth += 1) await ended(nth);
    await fixture.clock.sleep(workRetentionMs - minute);
    expect(await keep()).toMatchObject({ removed: 3 });
    await fixture.clock.sleep(2 * minute);
    expect(await keep()).toMatchObject({ removed: 3 + 5 });
    expect(fixture.intents()).toHaveLength(minKeptIntents);
    await fixture.clock.sleep(365 * day);
    await keep();
    expect(fixture.intents()).toHaveLength(minKeptIntents);
  });

  test('keeps work for at least the seven days in which replays are recognised', () => {
    expect(workRetentionMs).toBeGreaterThanOrEqual(7 * day);
  });
});
