import { loggerTo } from '../../logger.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { GitHubApiError, InstallationPaused, RepositoryLost } from '../../../app/github/github-api.ts';
import { handleDelivery, startDeliveryWorker, type DeliveryWorkerOptions } from '../../../app/inbox/delivery-worker.ts';
import type { DeliveryDecision } from '../../../app/inbox/deliveries.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { delivery, openInbox, type TestInbox } from './inbox.ts';

let postgres: TestPostgres;
let inbox: TestInbox;
beforeAll(async () => {
  postgres = await startTestPostgres();
  inbox = await openInbox(postgres.url);
});
afterAll(async () => {
  await inbox.close();
  await postgres.stop();
});

const nothing = { kind: 'ignore', why: 'it is of no account' };

async function context(
  handler: (event: object) => Promise<DeliveryDecision | void>,
  more: Partial<DeliveryWorkerOptions> = {},
) {
  const counted: string[] = [];
  const logged: string[] = [];
  const options: DeliveryWorkerOptions = {
    queue: inbox.queue,
    deliveries: inbox.deliveries,
    handle: async (event) => (await handler(event)) ?? nothing,
    clock: systemClock,
    log: loggerTo((message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`)),
    count: (event, result) => void counted.push(`${event} ${result}`),
    ...more,
  };
  const one = delivery();
  await inbox.store(one);
  const handle = () => handleDelivery({ data: { id: one.id } }, options);
  const row = async () => {
    const found = await inbox.deliveries.get(one.id);
    if (!found) throw new Error('The row is gone.');
    return found;
  };
  return { one, handle, row, counted, logged, options };
}

test('passes a delivery to its handler, and stores the decision with it', async () => {
  const seen: unknown[] = [];
  const decision = { kind: 'push', why: 'main moved on', text: 'a\0b\uD800' };
  const { one, handle, row, counted } = await context(async (event) => {
    seen.push(event);
    return decision;
  });
  await handle();
  expect(seen).toEqual([{ id: one.id, name: 'push', payload: { ref: 'refs/heads/main' } }]);
  expect(await row()).toMatchObject({
    handledAt: expect.any(Number),
    decision: { kind: 'push', why: 'main moved on', text: 'a\uFFFDb\uFFFD' },
    attempts: 1,
    lastError: undefined,
  });
  expect(counted).toEqual(['push handled']);
});

test('skips a delivery that was handled', async () => {
  let times = 0;
  const { handle } = await context(async () => void (times += 1));
  await handle();
  await handle();
  expect(times).toBe(1);
});

test('retries a delivery whose handler fails, and keeps the error until then', async () => {
  let isBroken = true;
  const { handle, row, counted } = await context(async () => {
    if (isBroken) throw new Error('the service does not answer');
  });
  await expect(handle()).rejects.toThrow(/^push .*: the service does not answer$/);
  expect(await row()).toMatchObject({ handledAt: undefined, attempts: 1, lastError: 'the service does not answer' });
  isBroken = false;
  await handle();
  expect(await row()).toMatchObject({ handledAt: expect.any(Number), attempts: 2, lastError: undefined });
  expect(counted).toEqual(['push failed', 'push handled']);
});

test('waits for a rate-limited installation without counting the attempt', async () => {
  // This process's clock is an hour ahead of the database's.
  const clock = { now: () => systemClock.now() + 60 * 60_000 };
  const until = clock.now() + 60_000;
  const handler = async () => {
    throw new InstallationPaused(5, until, 'too many requests');
  };
  const { one, handle, row, counted } = await context(handler, { clock });
  await handle();
  expect(await row()).toMatchObject({ handledAt: undefined, attempts: 0, lastError: undefined });
  expect(counted).toEqual(['push postponed']);
  const { rows } = await inbox.database.pool.query<{ seconds: number }>(
    `select extract(epoch from start_after - created_on)::integer as seconds from pgboss.job
     where data ->> 'id' = $1 and id <> $2`,
    [one.id, one.id],
  );
  expect(rows).toEqual([{ seconds: 60 }]);
});

test('ends a delivery of a repository that is gone, in one attempt', async () => {
  const lost = new RepositoryLost('acme/agents', new GitHubApiError('GitHub answered 404', 404, 'none'));
  const { handle, row, counted, logged } = await context(async () => {
    throw lost;
  });
  await handle();
  const why = 'acme/agents is not there, or the App is not installed on it';
  expect(await row()).toMatchObject({ handledAt: expect.any(Number), attempts: 1, decision: { kind: 'ignore', why } });
  expect([counted, logged.filter((line) => line.includes(why)).length]).toEqual([['push handled'], 1]);
});

test('ends a job whose delivery was removed', async () => {
  const { options, logged } = await context(async () => undefined);
  await handleDelivery({ data: { id: delivery().id } }, options);
  expect(logged[0]).toContain('A delivery is no longer kept');
});

describe('the worker', () => {
  test('works on stored deliveries, several at once, and retries failed ones', async () => {
    let failures = 1;
    const { options, row } = await context(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('once');
    });
    await startDeliveryWorker(options);
    await expect.poll(async () => (await row()).handledAt).toBeDefined();
    const more = Array.from({ length: 20 }, () => delivery());
    await Promise.all(more.map(inbox.store));
    const unhandled = async () => {
      const left = (await inbox.deliveries.list({ limit: 100, unhandled: true })).map(({ id }) => id);
      return more.filter(({ id }) => left.includes(id)).length;
    };
    await expect.poll(unhandled).toBe(0);
  });

  test('handles a push while a hundred pull requests wait, of which each account has one place', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let examined: string[] = [];
    // The workers of the test before this one would take its jobs.
    const own = await startTestPostgres();
    onTestFinished(() => own.stop());
    const quiet = await openInbox(own.url);
    onTestFinished(() => quiet.close());
    const { options } = await context(async () => undefined, {
      queue: quiet.queue,
      deliveries: quiet.deliveries,
      handle: async ({ id, name }) => {
        if (name === 'pull_request') {
          examined = [...examined, id];
          await released;
        }
        return nothing;
      },
    });
    const hostile = Array.from({ length: 100 }, (_, at) =>
      delivery({ event: 'pull_request', installationId: 50, repositoryId: 100 + at }),
    );
    const honest = delivery({ event: 'pull_request', installationId: 51, repositoryId: 7 });
    const push = delivery();
    await Promise.all(hostile.map(quiet.store));
    await startDeliveryWorker(options);
    await quiet.store(honest);
    await quiet.store(push);
    await expect.poll(async () => (await quiet.deliveries.get(push.id))?.handledAt).toBeDefined();
    await expect.poll(() => examined).toContain(honest.id);
    await expect.poll(() => examined).toHaveLength(2);
    release();
    await expect.poll(() => examined.length).toBe(101);
  });

  test('gives pushes all places where only files of pull requests were slow', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const own = await startTestPostgres();
    onTestFinished(() => own.stop());
    const quiet = await openInbox(own.url);
    onTestFinished(() => quiet.close());
    const begun: string[] = [];
    const { options } = await context(async () => undefined, {
      queue: quiet.queue,
      deliveries: quiet.deliveries,
      hasSlowFiles: (_, which) => which === 'pullRequests',
      handle: async ({ id }) => {
        begun.push(id);
        await released;
        return nothing;
      },
    });
    const pushes = [1, 2, 3, 4, 5].map((repositoryId) => delivery({ installationId: 50, repositoryId }));
    await Promise.all(pushes.map(quiet.store));
    await startDeliveryWorker(options);
    await expect.poll(() => begun).toHaveLength(5);
    release();
    const handled = async () => Promise.all(pushes.map(async ({ id }) => (await quiet.deliveries.get(id))?.handledAt));
    await expect.poll(async () => (await handled()).every((at) => at !== undefined)).toBe(true);
  });

  test('puts a push off, in its turn, where an installation with slow files has no place for it', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const own = await startTestPostgres();
    onTestFinished(() => own.stop());
    const quiet = await openInbox(own.url);
    onTestFinished(() => quiet.close());
    const putOff: { data: object; group: string | undefined }[] = [];
    const { options } = await context(async () => undefined, {
      queue: {
        ...quiet.queue,
        send: (name, data, how = {}) => {
          putOff.push({ data, group: how.group });
          return quiet.queue.send(name, data, how);
        },
      },
      deliveries: quiet.deliveries,
      hasSlowFiles: (_, which) => which === 'pushes',
      handle: () => released.then(() => nothing),
    });
    const pushes = [1, 2, 3].map((repositoryId) => delivery({ installationId: 50, repositoryId }));
    await Promise.all(pushes.map(quiet.store));
    await startDeliveryWorker(options);
    await expect.poll(() => putOff.length).toBeGreaterThan(0);
    const late = pushes.find(({ id }) => putOff[0] && 'id' in putOff[0].data && putOff[0].data.id === id);
    expect(putOff[0]?.group).toBe(`repository ${late?.repositoryId}`);
    release();
    const handled = async () => Promise.all(pushes.map(async ({ id }) => (await quiet.deliveries.get(id))?.handledAt));
    await expect.poll(async () => (await handled()).every((at) => at !== undefined)).toBe(true);
  });
});
