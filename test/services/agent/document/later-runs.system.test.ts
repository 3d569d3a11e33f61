import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SettableClock } from '../crons/settable-clock.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { sendTo } from './send.ts';
import type { Send } from './send.ts';

const clock = new SettableClock('2026-11-21T08:00:00Z');
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ clock });
});
afterAll(() => serving.close());

/** A minute that no other test has used. */
let minutes = 0;
const nextMinute = (): void => {
  minutes += 1;
  clock.set(new Date(Date.UTC(2026, 10, 21, 9, minutes)).toISOString());
};

describe('every way to start a run, over HTTP', () => {
  let send: Send;
  beforeAll(() => {
    send = sendTo(serving.url);
  });
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await send(method, path, body);
    expect([path, answer.status]).toEqual([path, 200]);
    return Object(await answer.json());
  };

  /** What the assistant says now, in every way to run it, on an existing thread. */
  async function saying(assistant_id: string, threadId: string, cronThread: string): Promise<unknown[]> {
    const run = { assistant_id, input: { input: 'Ada' } };
    const waited = await ask('POST', `/threads/${threadId}/runs/wait`, run);
    const alone = await ask('POST', '/runs/wait', run);
    const { run_id } = await ask('POST', `/threads/${threadId}/runs`, run);
    const joined = await ask('GET', `/threads/${threadId}/runs/${String(run_id)}/join`);
    const stream = await (await send('POST', '/runs/stream', { ...run, stream_mode: 'updates' })).text();
    const { length: before } = await cronRuns(cronThread);
    nextMinute();
    await until(async () => {
      const runs = await cronRuns(cronThread);
      return runs.length === before + 1 && runs.every(({ status }) => status === 'success') ? true : undefined;
    });
    const { values } = await ask('GET', `/threads/${cronThread}`);
    return [
      ...[waited, alone, joined, Object(values)].map(({ output }) => output),
      /"output":"([^"]*)"/.exec(stream)?.[1],
    ];
  }
  async function cronRuns(threadId: string): Promise<Record<string, unknown>[]> {
    const runs: unknown = await (await send('GET', `/threads/${threadId}/runs?limit=100`)).json();
    return Array.isArray(runs) ? runs.map(Object) : [];
  }
  const all = (said: string): string[] => Array.from({ length: 5 }, () => said);

  test(
    'uses the version that is active when the run starts, also for crons',
    {
      meta: {
        claims: [
          'agent.assistants.runs-use-active-version',
          'agent.assistants.patch-later-runs',
          'agent.assistants.latest-later-runs',
          'agent.assistants.patch-no-merge',
        ],
      },
    },
    async () => {
      const { assistant_id } = await ask('POST', '/assistants', { graph_id: 'echo', context: { greeting: 'one' } });
      const id = String(assistant_id);
      const [{ thread_id: thread }, { thread_id: cronThread }] = [
        await ask('POST', '/threads', {}),
        await ask('POST', '/threads', {}),
      ];
      const cron = { assistant_id: id, schedule: '* * * * *', input: { input: 'Ada' } };
      const { cron_id } = await ask('POST', `/threads/${String(cronThread)}/runs/crons`, cron);
      const says = () => saying(id, String(thread), String(cronThread));
      expect(await says()).toEqual(all('one Ada'));
      await ask('PATCH', `/assistants/${id}`, { context: { greeting: 'two' } });
      expect(await says()).toEqual(all('two Ada'));
      await ask('POST', `/assistants/${id}/latest`, { version: 1 });
      expect(await says()).toEqual(all('one Ada'));
      await ask('PATCH', `/assistants/${id}`, { context: { other: 'x' } });
      expect(await says()).toEqual(all('hello Ada'));
      await send('DELETE', `/runs/crons/${String(cron_id)}`);
    },
  );
});
