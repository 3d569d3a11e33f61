import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

const post = (path: string, body: unknown = {}): Promise<Response> =>
  fetch(`${serving.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
const echo = { assistant_id: 'echo', input: { input: 'Ada' } };

describe('runs on one thread', () => {
  test('take turns when many start at once, and none waits forever', async () => {
    const thread = Object(await (await post('/threads')).json());
    const wait = (input: string) =>
      post(`/threads/${thread.thread_id}/runs/wait`, { ...echo, input: { input } }).then((answer) => answer.json());
    const inputs = Array.from({ length: 40 }, (_, n) => `n${n}`);
    expect(await Promise.all(inputs.map(wait))).toMatchObject(inputs.map((input) => ({ output: `hello ${input}` })));
    expect(await (await fetch(`${serving.url}/threads/${thread.thread_id}`)).json()).toMatchObject({ status: 'idle' });
  });

  test('a run unknown to its process is picked up and delays no other', async () => {
    const thread = Object(await (await post('/threads')).json());
    const runs = `/threads/${thread.thread_id}/runs`;
    await post(`${runs}/wait`, echo);
    // As if the database had stored the run and its response had been lost.
    const admin = new Client({ connectionString: serving.databaseUrl });
    await admin.connect();
    await admin.query(`insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs,
        multitask_strategy, temporary, detached, process_id, created_at, updated_at)
      select id, thread_id, assistant_id, graph_id, 'pending', metadata, jsonb_set(kwargs::jsonb, '{config,configurable,run_id}', to_jsonb(id)),
        multitask_strategy, temporary, true, process_id, created_at, updated_at
      from runs, gen_random_uuid() as id where thread_id = '${thread.thread_id}'`);
    await admin.query(`update threads set unfinished = 1, status = 'busy' where thread_id = '${thread.thread_id}'`);
    await admin.end();
    expect(await (await post(`${runs}/wait`, echo)).json()).toMatchObject({
      steps: Array.from({ length: 3 }, () => ['prepare', 'answer']).flat(),
    });
    const listed = Object(await (await fetch(`${serving.url}${runs}`)).json());
    expect(listed.map((run: { status: string }) => run.status)).toEqual(['success', 'success', 'success']);
  });
});

describe('large or unusual requests', () => {
  test('returns a large state every time it is read', async () => {
    const input = 'x'.repeat(8_000_000);
    const response = await post('/runs/stream', { ...echo, input: { input }, stream_mode: ['values', 'updates'] });
    const events = (await response.text()).split('\n\n').slice(0, -1);
    const names = events.map((event) => event.slice('event: '.length, event.indexOf('\n')));
    expect(names).toEqual(['metadata', 'values', 'updates', 'values', 'updates', 'values']);
  });

  test('strips characters that the database can’t store, and keeps the rest', async () => {
    const odd = 'a\u0000b\ud800';
    expect(await (await post('/threads', { metadata: { odd } })).json()).toMatchObject({
      metadata: { odd: 'a\ufffdb\ufffd' },
    });
    expect(await (await post('/assistants', { graph_id: 'echo', name: odd })).json()).toMatchObject({ name: 'a�b�' });
    const kept = { assistant_id: 'echo', on_completion: 'keep' };
    expect(await (await post('/runs/wait', { ...kept, input: { input: odd } })).json()).toMatchObject({ input: odd });
    await post('/runs/wait', { ...kept, input: { input: 'findable' } });
    const found = await post('/threads/search', { values: { input: 'findable' } });
    expect(await found.json()).toMatchObject([{ values: { output: 'hello findable' } }]);
    for (const path of ['/assistants', '/threads']) {
      expect((await post(`${path}/search`, { metadata: { odd }, name: odd, graph_id: odd })).status).toBe(200);
    }
  });

  test.each([
    ['a body that nests too deep', { ...echo, input: JSON.parse('['.repeat(1100) + ']'.repeat(1100)) }, []],
    ['a start beyond the timer limit', { ...echo, after_seconds: 3_000_000 }, ['after_seconds']],
  ])('rejects %s', async (_, body, field) => {
    const response = await post('/runs/wait', body);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['body', ...field] }] });
  });
});
