import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askInProcess } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { SettableClock } from './settable-clock.ts';

const clock = new SettableClock('2026-11-21T08:00:00Z');
let serving: Serving;
let ask: Ask;
beforeAll(async () => {
  serving = await serveAgent({ clock });
  ask = askInProcess(serving);
});
afterAll(() => serving.close());

const everyMinute = { assistant_id: 'echo', schedule: '* * * * *', input: { input: 'Ada' } };
const makeThread = async (): Promise<string> => Object((await ask('POST', '/threads', {})).body).thread_id;
const statusesOn = async (threadId: string): Promise<unknown[]> => {
  const { body } = await ask('GET', `/threads/${threadId}/runs`);
  return Array.isArray(body) ? body.map((run) => Object(run).status) : [];
};

describe('crons and concurrent events', () => {
  test('deletes their threads while their runs start', async () => {
    clock.set('2026-11-21T08:00:30Z');
    const threads = await Promise.all(Array.from({ length: 12 }, makeThread));
    for (const threadId of threads) await ask('POST', `/threads/${threadId}/runs/crons`, everyMinute);
    clock.set('2026-11-21T08:01:00Z');
    await until(async () => ((await statusesOn(threads[0] ?? '')).length > 0 ? true : undefined));
    const deleted = await Promise.all(threads.map((threadId) => ask('DELETE', `/threads/${threadId}`)));
    expect(deleted.map(({ status }) => status)).toEqual(threads.map(() => 204));
    expect((await ask('POST', '/runs/crons/count', {})).body).toBe(0);
    expect(serving.lines.filter((line) => /deadlock|failed:|mistake/.test(line))).toEqual([]);
  });

  test('follows multitask_strategy on a busy thread: enqueue, interrupt or reject', async () => {
    clock.set('2026-11-21T08:00:30Z');
    const busy = async (multitask_strategy: string) => {
      const threadId = await makeThread();
      const slow = { assistant_id: 'echo', input: { input: 'slow', sleep_ms: 60_000 } };
      const { run_id } = Object((await ask('POST', `/threads/${threadId}/runs`, slow)).body);
      await ask('POST', `/threads/${threadId}/runs/crons`, { ...everyMinute, multitask_strategy });
      return { threadId, slow: `/threads/${threadId}/runs/${run_id}` };
    };
    const [waits, replaces, gives] = [await busy('enqueue'), await busy('interrupt'), await busy('reject')];
    const seen = (threadId: string, ...statuses: string[]) =>
      until(async () => (String(await statusesOn(threadId)) === String(statuses) ? statuses : undefined));
    clock.set('2026-11-21T08:01:00Z');
    await seen(replaces.threadId, 'success', 'interrupted');
    await until(async () => (serving.lines.some((line) => line.includes('"reject"')) ? true : undefined));
    await seen(gives.threadId, 'running');
    await seen(waits.threadId, 'pending', 'running');
    await ask('POST', `${waits.slow}/cancel`);
    expect(await seen(waits.threadId, 'success', 'interrupted')).toHaveLength(2);
    for (const { threadId } of [waits, replaces, gives]) await ask('DELETE', `/threads/${threadId}`);
  });

  test('an idle revision starts none, and catches up when it serves again', async () => {
    clock.set('2026-11-21T08:00:30Z');
    const threadId = await makeThread();
    await ask('POST', `/threads/${threadId}/runs/crons`, everyMinute);
    await serving.rest();
    clock.set('2026-11-21T08:10:20Z');
    await serving.wake('11111111-1111-4111-8111-111111111111');
    await until(async () => ((await statusesOn(threadId)).includes('success') ? true : undefined));
    expect(await statusesOn(threadId)).toEqual(['success']);
    const { body } = await ask('POST', '/runs/crons/search', { thread_id: threadId, select: ['next_run_date'] });
    expect(body).toEqual([{ next_run_date: '2026-11-21T08:11:00.000Z' }]);
  });
});
