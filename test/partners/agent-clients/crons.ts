import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { refusalOf } from './deployed.ts';

/** Everything the client does with crons. That one fires, `agent-server/crons/webhooks.test.ts` shows without waiting for a minute. */
export function cronsOf(given: () => Client): void {
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
}
