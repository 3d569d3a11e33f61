import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';
import type { Receiver } from '../../agent-server/webhooks/receiver.ts';
import { refusalOf } from './deployed.ts';

/** Everything the client does with crons. */
export function cronsOf(given: () => Client, receiver: () => Receiver): void {
  test('create, createForThread, search, count, update and delete', async () => {
    const { crons, threads } = given();
    const of = randomUUID();
    const { thread_id } = await threads.create();
    const daily = { schedule: '0 9 * * *', timezone: 'Europe/Berlin', input: { input: 'Ada' }, metadata: { of } };
    const alone = await crons.create('greeter', { ...daily, enabled: false, onRunCompleted: 'keep' });
    expect(alone).toMatchObject({ schedule: '0 9 * * *', metadata: { of } });
    const bound = await crons.createForThread(thread_id, 'greeter', { ...daily, schedule: '0 10 * * *' });
    expect(bound).toMatchObject({ thread_id });
    const ids = async (query: object) =>
      (await crons.search({ metadata: { of }, ...query })).map(({ cron_id }) => cron_id).toSorted();
    expect(await ids({})).toEqual([alone.cron_id, bound.cron_id].toSorted());
    expect(await ids({ threadId: thread_id })).toEqual([bound.cron_id]);
    expect(await ids({ enabled: false })).toEqual([alone.cron_id]);
    expect(await crons.count({ metadata: { of } })).toBe(2);
    expect(
      await crons.search({ metadata: { of }, sortBy: 'created_at', sortOrder: 'desc', limit: 1, select: ['cron_id'] }),
    ).toEqual([{ cron_id: bound.cron_id }]);
    const changed = await crons.update(alone.cron_id, { schedule: '30 9 * * *', enabled: true });
    expect(changed).toMatchObject({ schedule: '30 9 * * *', enabled: true });
    // Half past nine in Berlin, whatever the season.
    const next = new Date(changed.next_run_date ?? '');
    expect(next.toLocaleTimeString('de-DE', { timeZone: 'Europe/Berlin', timeStyle: 'short' })).toBe('09:30');
    await crons.delete(alone.cron_id);
    expect(await refusalOf(crons.delete(alone.cron_id))).toMatchObject({ status: 404 });
    expect(await crons.count({ metadata: { of } })).toBe(1);
    await threads.delete(thread_id);
    expect(await crons.count({ metadata: { of } })).toBe(0);
    expect(await refusalOf(crons.create('greeter', { ...daily, schedule: 'at nine' }))).toMatchObject({ status: 422 });
  });

  test('one fires, runs, and tells its webhook', { timeout: 90_000 }, async () => {
    const { crons, threads } = given();
    const { thread_id } = await threads.create();
    const { cron_id } = await crons.createForThread(thread_id, 'greeter', {
      schedule: '* * * * *',
      input: { input: 'the minute' },
      webhook: receiver().at('/cron'),
    });
    try {
      const [body] = await vi.waitFor(
        () => {
          const came = receiver().to('/cron');
          expect(came.length).toBeGreaterThan(0);
          return came.map((each): unknown => JSON.parse(each.body));
        },
        { timeout: 80_000, interval: 250 },
      );
      expect(body).toMatchObject({
        thread_id,
        status: 'success',
        metadata: { cron_id },
        values: { output: 'hello the minute' },
      });
      expect(await threads.get(thread_id)).toMatchObject({ values: { output: 'hello the minute' } });
    } finally {
      await crons.delete(cron_id);
    }
  });
}
