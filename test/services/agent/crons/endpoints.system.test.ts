import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { ISO, UNKNOWN_ID, until, UUID } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { SettableClock } from './settable-clock.ts';

const clock = new SettableClock('2026-11-21T08:00:00Z');
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ clock });
});
afterAll(() => serving.close());

const daily = { assistant_id: 'echo', schedule: '0 9 * * *', input: { input: 'Ada' } };

interface CronBody {
  cron_id: string;
  thread_id: string | null;
  assistant_id: string;
  next_run_date: string | null;
  updated_at: string;
}

describe('crons, over HTTP', () => {
  let ask: Ask;
  beforeAll(() => {
    ask = askAt(serving.url);
  });

  const ok = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await ask(method, path, body);
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
    return answer.body;
  };
  const cronOf = (body: unknown): CronBody => Object(body);
  const make = async (body: object, threadId?: string): Promise<CronBody> =>
    cronOf(await ok('POST', threadId === undefined ? '/runs/crons' : `/threads/${threadId}/runs/crons`, body));
  const makeThread = async (): Promise<string> => Object(await ok('POST', '/threads', {})).thread_id;
  const found = async (filter: object): Promise<CronBody[]> => {
    const body = await ok('POST', '/runs/crons/search', filter);
    return Array.isArray(body) ? body.map(cronOf) : [];
  };
  const runsOf = async (threadId: string): Promise<Record<string, unknown>[]> => {
    const body = await ok('GET', `/threads/${threadId}/runs`);
    return Array.isArray(body) ? body.map((run) => Object(run)) : [];
  };
  const echo = async (): Promise<string> => Object(await ok('GET', '/assistants/echo')).assistant_id;

  test(
    'creates one without a thread',
    { meta: { claims: ['agent.endpoints.cron', 'agent.groups.crons'] } },
    async () => {
      const cron = await make({ ...daily, metadata: { by: 'a' }, timezone: 'Europe/Berlin' });
      expect(cron).toEqual({
        cron_id: expect.stringMatching(UUID),
        assistant_id: await echo(),
        thread_id: null,
        schedule: '0 9 * * *',
        timezone: 'Europe/Berlin',
        end_time: null,
        enabled: true,
        on_run_completed: 'delete',
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        next_run_date: expect.stringMatching(/T08:00:00.000Z$/),
        payload: { assistant_id: await echo(), input: { input: 'Ada' }, metadata: { by: 'a' } },
        metadata: { by: 'a' },
        user_id: null,
      });
      expect(await found({ metadata: { by: 'a' }, limit: 1 })).toEqual([cron]);
      await ask('DELETE', `/runs/crons/${cron.cron_id}`);
    },
  );

  test('reads one with its next runs, and lists those that it started', async () => {
    const cron = await make({ ...daily, end_time: '2026-11-24T12:00:00Z' });
    const kept = await make({ ...daily, on_run_completed: 'keep', schedule: '0 9 * * 2' });
    const read = async (path: string): Promise<unknown> => ok('GET', `/runs/crons/${path}`);
    const days = ['21', '22', '23', '24'].map((day) => `2026-11-${day}T09:00:00.000Z`);
    expect(await read(cron.cron_id)).toEqual({ ...cron, next_run_dates: days });
    expect(Object(await read(kept.cron_id)).next_run_dates).toHaveLength(5);
    expect(await read(`${cron.cron_id}/runs`)).toEqual([]);

    for (const [starter, completion, thread] of [
      [cron, {}, null],
      [kept, { on_completion: 'keep' }, expect.stringMatching(UUID)],
    ] as const) {
      const metadata = { cron_id: starter.cron_id };
      await ok('POST', '/runs/wait', { assistant_id: 'echo', input: { input: 'Ada' }, metadata, ...completion });
      const runs = await read(`${starter.cron_id}/runs`);
      expect(runs).toEqual([
        {
          run_id: expect.stringMatching(UUID),
          thread_id: thread,
          status: 'success',
          error: null,
          created_at: expect.stringMatching(ISO),
          run_started_at: expect.stringMatching(ISO),
          run_ended_at: expect.stringMatching(ISO),
        },
      ]);
    }
    await ok('POST', '/runs/wait', { assistant_id: 'echo', input: { input: 'Ada' }, metadata: { cron_id: "x' or 1" } });
    await ok('POST', '/runs/wait', {
      assistant_id: 'echo',
      input: { input: 'Ada' },
      metadata: { cron_id: UNKNOWN_ID },
    });
    await ok('PATCH', `/runs/crons/${cron.cron_id}`, { enabled: false });
    expect(Object(await read(cron.cron_id)).next_run_dates).toEqual([]);
    expect((await ask('GET', `/runs/crons/${UNKNOWN_ID}`)).status).toBe(404);
    expect((await ask('GET', `/runs/crons/${UNKNOWN_ID}/runs`)).status).toBe(404);
    for (const { cron_id } of [cron, kept]) await ask('DELETE', `/runs/crons/${cron_id}`);
  });

  test.each([
    ['a kept thread', 'keep'],
    ['none', 'delete'],
  ])('lists a run that waits for a person as interrupted, with %s', async (_, on_completion) => {
    const { cron_id } = await make(daily);
    const waits = { assistant_id: 'echo', input: { input: 'Ada' }, interrupt_before: '*', metadata: { cron_id } };
    await ok('POST', '/runs/wait', { ...waits, on_completion });
    expect(await ok('GET', `/runs/crons/${cron_id}/runs`)).toMatchObject([{ status: 'interrupted', error: null }]);
    await ask('DELETE', `/runs/crons/${cron_id}`);
  });

  test(
    'creates one on a thread, in both spellings of the path',
    { meta: { claims: ['agent.endpoints.thread-cron'] } },
    async () => {
      const threadId = await makeThread();
      const cron = await make({ ...daily, multitask_strategy: 'reject' }, threadId);
      expect(cron).toMatchObject({
        thread_id: threadId,
        on_run_completed: null,
        payload: { multitask_strategy: 'reject' },
      });
      const other = await ok('POST', `/thread/${threadId}/runs/crons`, daily);
      expect(await found({ thread_id: threadId, sort_by: 'created_at', sort_order: 'asc' })).toEqual([cron, other]);
    },
  );

  test('one on a thread starts a run there each time', { meta: { claims: ['agent.crons.periodic'] } }, async () => {
    clock.set('2026-11-21T08:58:00Z');
    const threadId = await makeThread();
    const cron = await make({ ...daily, schedule: '* * * * *', metadata: { by: 'b' } }, threadId);
    for (const [times, minute] of ['08:59', '09:00'].entries()) {
      clock.set(`2026-11-21T${minute}:00Z`);
      const runs = await until(async () => {
        const all = await runsOf(threadId);
        const done = all.filter(({ status }) => status === 'success');
        return done.length === times + 1 && all.length === done.length ? done : undefined;
      });
      expect(runs[0]).toMatchObject({
        assistant_id: cron.assistant_id,
        metadata: { by: 'b', cron_id: cron.cron_id },
        multitask_strategy: 'enqueue',
      });
    }
    expect(await ok('GET', `/threads/${threadId}`)).toMatchObject({
      values: { output: 'hello Ada', steps: ['prepare', 'answer', 'prepare', 'answer'] },
    });
    await ask('DELETE', `/runs/crons/${cron.cron_id}`);
    clock.set('2026-11-21T09:01:00Z');
    expect(await runsOf(threadId)).toHaveLength(2);
  });

  test('one without a thread gets a new thread per run, kept on request', async () => {
    clock.set('2026-11-21T08:58:30Z');
    const mark = { mark: crypto.randomUUID() };
    const kept = await make({ ...daily, on_run_completed: 'keep', metadata: mark });
    const gone = await make({ ...daily, metadata: mark });
    const threadsOf = async (metadata: object) => {
      const body = await ok('POST', '/threads/search', { metadata });
      return Array.isArray(body) ? body.map((thread) => Object(thread)) : [];
    };
    for (const [day, date] of ['21', '22'].entries()) {
      clock.set(`2026-11-${date}T09:00:00Z`);
      await until(async () => {
        const threads = await threadsOf({ cron_id: kept.cron_id });
        return threads.length === day + 1 && threads.every(({ values }) => values !== null) ? true : undefined;
      });
    }
    const threads = await threadsOf(mark);
    expect(threads).toHaveLength(2);
    for (const { thread_id, values } of threads) {
      expect(values).toMatchObject({ output: 'hello Ada' });
      expect(await runsOf(thread_id)).toMatchObject([{ status: 'success', metadata: { cron_id: kept.cron_id } }]);
    }
    // The other one fired at the same times and left nothing.
    const next = '2026-11-23T09:00:00.000Z';
    await until(async () => {
      const both = await found({ metadata: mark });
      return both.every(({ next_run_date }) => next_run_date === next) ? both : undefined;
    });
    expect(await threadsOf({ cron_id: gone.cron_id })).toEqual([]);
    for (const { cron_id } of [kept, gone]) await ask('DELETE', `/runs/crons/${cron_id}`);
  });

  test('searches, counts, sorts and pages them', async () => {
    clock.set('2026-11-21T08:00:00Z');
    const mark = { mark: crypto.randomUUID() };
    const threadId = await makeThread();
    const early = await make({ ...daily, schedule: '30 8 * * *', metadata: mark });
    const late = await make({ ...daily, schedule: '0 18 * * *', metadata: { ...mark, more: 1 } }, threadId);
    const off = await make({ ...daily, assistant_id: 'chat', enabled: false, metadata: mark });
    const ids = async (filter: object) =>
      (await found({ metadata: mark, sort_by: 'next_run_date', sort_order: 'asc', ...filter })).map(
        ({ cron_id }) => cron_id,
      );
    expect(await ids({})).toEqual([early.cron_id, late.cron_id, off.cron_id]);
    expect(await ids({ sort_order: 'desc' })).toEqual([late.cron_id, early.cron_id, off.cron_id]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([late.cron_id]);
    expect(await ids({ assistant_id: 'chat' })).toEqual([off.cron_id]);
    expect(await ids({ assistant_id: early.assistant_id })).toEqual([early.cron_id, late.cron_id]);
    expect(await ids({ thread_id: threadId })).toEqual([late.cron_id]);
    expect(await ids({ enabled: true })).toEqual([early.cron_id, late.cron_id]);
    expect(await ids({ metadata: { ...mark, more: 1 } })).toEqual([late.cron_id]);
    const page = await ask('POST', '/runs/crons/search', { metadata: mark, limit: 1 });
    expect(page.headers.get('x-pagination-total')).toBe('3');
    const selected = {
      metadata: mark,
      select: ['schedule', 'now'],
      sort_by: 'next_run_date',
      sort_order: 'asc',
      limit: 1,
    };
    expect(await found(selected)).toEqual([{ schedule: '30 8 * * *', now: expect.stringMatching(ISO) }]);
    for (const [filter, count] of [
      [{}, 3],
      [{ enabled: true }, 2],
      [{ assistant_id: 'chat' }, 1],
      [{ thread_id: threadId }, 1],
    ] as const) {
      expect(await ok('POST', '/runs/crons/count', { metadata: mark, ...filter })).toBe(count);
    }
  });

  test('updates their schedule, run and enabled state', async () => {
    clock.set('2026-11-21T08:00:00Z');
    const cron = await make({
      ...daily,
      end_time: '2026-12-01T00:00:00Z',
      context: { greeting: 'hi' },
      metadata: { a: 1 },
    });
    const patch = (body: object) => ok('PATCH', `/runs/crons/${cron.cron_id}`, body);
    expect(await patch({ schedule: '0 10 * * *', timezone: 'Asia/Tokyo', metadata: { b: 2 } })).toMatchObject({
      cron_id: cron.cron_id,
      schedule: '0 10 * * *',
      timezone: 'Asia/Tokyo',
      end_time: '2026-12-01T00:00:00.000Z',
      next_run_date: '2026-11-22T01:00:00.000Z',
      metadata: { a: 1, b: 2 },
      payload: { input: { input: 'Ada' }, context: { greeting: 'hi' } },
    });
    expect(await patch({ end_time: null, context: { greeting: 'hey' }, input: { input: 'Bo' } })).toMatchObject({
      end_time: null,
      next_run_date: '2026-11-22T01:00:00.000Z',
      payload: { input: { input: 'Bo' }, context: { greeting: 'hey' } },
    });
    expect(await patch({ enabled: false })).toMatchObject({ enabled: false, next_run_date: null });
    expect(await patch({ enabled: true })).toMatchObject({ next_run_date: '2026-11-22T01:00:00.000Z' });
    const changed = await Promise.all([1, 2, 3, 4].map((n) => patch({ metadata: { [`n${n}`]: n } })));
    expect(new Set(changed.map((body) => cronOf(body).updated_at)).size).toBe(4);
    expect(await found({ metadata: { a: 1, b: 2, n1: 1, n2: 2, n3: 3, n4: 4 } })).toHaveLength(1);
    expect((await ask('DELETE', `/runs/crons/${cron.cron_id}`)).status).toBe(204);
    expect((await ask('DELETE', `/runs/crons/${cron.cron_id}`)).status).toBe(404);
  });

  test('are deleted with their thread and with their assistant', async () => {
    const [threadId, mark] = [await makeThread(), { mark: crypto.randomUUID() }];
    const assistant = Object(await ok('POST', '/assistants', { graph_id: 'echo' })).assistant_id;
    await make({ ...daily, metadata: mark }, threadId);
    await make({ ...daily, metadata: mark, assistant_id: assistant });
    const stays = await make({ ...daily, metadata: mark });
    await ask('DELETE', `/threads/${threadId}`);
    expect(await ok('POST', '/runs/crons/count', { metadata: mark })).toBe(2);
    await ask('DELETE', `/assistants/${assistant}`);
    expect(await found({ metadata: mark })).toEqual([stays]);
  });

  test.each<[string, object, unknown[]]>([
    ['without a schedule', { schedule: undefined }, ['body', 'schedule']],
    ['with an invalid schedule', { schedule: 'often' }, ['body', 'schedule']],
    ['with seconds', { schedule: '* * * * * *' }, ['body', 'schedule']],
    ['with an oversized schedule', { schedule: '1,'.repeat(300) }, ['body', 'schedule']],
    ['with an unknown time zone', { timezone: 'Mars/Base' }, ['body', 'timezone']],
    ['with an end in the past', { end_time: '2020-01-01T00:00:00Z' }, ['body', 'end_time']],
    ['with an end that is not a time', { end_time: 'tomorrow' }, ['body', 'end_time']],
    ['with an unknown on_run_completed', { on_run_completed: 'archive' }, ['body', 'on_run_completed']],
    ['with a context that its graph rejects', { context: { greeting: 7 } }, ['body', 'context', 'greeting']],
    ['with an invalid webhook URL', { webhook: 'not a url' }, ['body', 'webhook']],
  ])('rejects one %s', async (_name, wrong, loc) => {
    const refused = await ask('POST', '/runs/crons', { ...daily, ...wrong });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
    if ('schedule' in wrong && wrong.schedule === undefined) return;
    const cron = await make(daily);
    expect(await ask('PATCH', `/runs/crons/${cron.cron_id}`, wrong)).toMatchObject({
      status: 422,
      body: { detail: [{ loc }] },
    });
  });

  test('returns 404 for a missing resource, and 422 for an invalid id', async () => {
    const threadId = await makeThread();
    for (const [method, path, body, status] of [
      ['POST', '/runs/crons', { ...daily, assistant_id: 'unknown' }, 404],
      ['POST', '/runs/crons', { ...daily, assistant_id: UNKNOWN_ID }, 404],
      ['POST', `/threads/${UNKNOWN_ID}/runs/crons`, daily, 404],
      ['POST', '/threads/nope/runs/crons', daily, 422],
      ['PATCH', `/runs/crons/${UNKNOWN_ID}`, {}, 404],
      ['PATCH', '/runs/crons/nope', {}, 422],
      ['DELETE', `/runs/crons/${UNKNOWN_ID}`, undefined, 404],
      ['DELETE', '/runs/crons/nope', undefined, 422],
      ['POST', '/runs/crons/search', { thread_id: 'nope' }, 422],
      ['POST', '/runs/crons/search', { limit: 0 }, 422],
      ['POST', `/threads/${threadId}/runs/crons`, { ...daily, on_run_completed: 'delete' }, 422],
    ] as const) {
      const answer = await ask(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect(Object(answer.body)).toHaveProperty('detail');
    }
  });
});

describe("the public service's own client", () => {
  test('creates, updates, searches, counts and deletes crons', async () => {
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const { thread_id } = await client.threads.create();
    const metadata = { by: 'client' };
    const alone = await client.crons.create('echo', {
      schedule: '0 9 * * *',
      timezone: 'Europe/Berlin',
      input: { input: 'a' },
      config: { recursion_limit: 9 },
      context: { greeting: 'hey' },
      metadata,
      webhook: 'https://hooks.example.com/done',
      interruptBefore: ['answer'],
      interruptAfter: '*',
      multitaskStrategy: 'enqueue',
      checkpointDuring: true,
      durability: 'async',
      enabled: true,
      streamMode: ['updates'],
      streamSubgraphs: true,
      streamResumable: true,
      endTime: '2999-01-01T00:00:00Z',
      onRunCompleted: 'keep',
    });
    expect(alone).toMatchObject({ schedule: '0 9 * * *', end_time: '2999-01-01T00:00:00.000Z', thread_id: null });
    expect(alone.payload).toMatchObject({
      input: { input: 'a' },
      config: { recursion_limit: 9 },
      context: { greeting: 'hey' },
      webhook: 'https://hooks.example.com/done',
      interrupt_before: ['answer'],
      interrupt_after: '*',
      durability: 'async',
      stream_mode: ['updates'],
    });
    const onThread = await client.crons.createForThread(thread_id, 'echo', { schedule: '@daily', metadata });
    expect(onThread).toMatchObject({ thread_id, assistant_id: alone.assistant_id });

    expect(await client.crons.search({ metadata, sortBy: 'created_at', sortOrder: 'asc' })).toEqual([alone, onThread]);
    expect(await client.crons.search({ threadId: thread_id, enabled: true, select: ['cron_id'] })).toEqual([
      { cron_id: onThread.cron_id },
    ]);
    expect(await client.crons.count({ metadata })).toBe(2);
    expect(await client.crons.count({ assistantId: alone.assistant_id, threadId: thread_id })).toBe(1);

    const changed = await client.crons.update(alone.cron_id, { endTime: null, enabled: false, webhook: '/ok' });
    expect(changed).toMatchObject({ cron_id: alone.cron_id, end_time: null, enabled: false, next_run_date: null });
    expect(Object(changed).payload).toMatchObject({ webhook: '/ok', input: { input: 'a' } });

    await client.crons.delete(alone.cron_id);
    await client.crons.delete(onThread.cron_id);
    expect(await client.crons.count({ metadata })).toBe(0);
    await expect(client.crons.delete(alone.cron_id)).rejects.toThrow('404');
    await expect(client.crons.create('echo', { schedule: 'often' })).rejects.toThrow('422');
  });
});
