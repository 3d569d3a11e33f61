import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { asking } from './two-servers.ts';
import type { Asking } from './two-servers.ts';

let serving: Serving;
let agent: Asking;
beforeAll(async () => {
  serving = await serveAgent();
  agent = asking(serving);
});
afterAll(() => serving.close());

const echo = (input: string, sleep_ms = 0) => ({ assistant_id: 'echo', input: { input, sleep_ms } });
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const idOf = (place: string) => place.slice(-36);
const isRunning = (place: string) => until(async () => ((await agent.status(place)) === 'running' ? true : undefined));

async function runsInTheDatabase(): Promise<number> {
  const admin = new Client({ connectionString: serving.databaseUrl });
  await admin.connect();
  const { rows } = await admin.query<{ count: string }>('select count(*) from runs');
  await admin.end();
  return Number(rows[0]?.count);
}

describe('cancelling several runs', () => {
  test('ends the active ones among the named runs of a thread, and no others', async () => {
    const [thread, other] = [await agent.thread(), await agent.thread()];
    const done = await agent.run(thread, echo('done'));
    await (await agent.get(`${done}/join`)).text();
    const running = await agent.run(thread, echo('x', 60_000));
    const waiting = await agent.run(thread, echo('x', 60_000));
    const otherThread = await agent.run(other, echo('x', 60_000));
    await isRunning(running);
    const run_ids = [done, running, waiting].map(idOf);
    const answer = await agent.post('/runs/cancel', { thread_id: thread, run_ids });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    await Promise.all([running, waiting].map((place) => agent.get(`${place}/join`).then((joined) => joined.text())));
    const statuses = await Promise.all([done, running, waiting].map((place) => agent.status(place)));
    expect(statuses).toEqual(['success', 'interrupted', 'interrupted']);
    await agent.post(`${otherThread}/cancel?wait=1`);
  });

  test('removes them and their state with action=rollback', async () => {
    const thread = await agent.thread();
    const place = await agent.run(thread, echo('x', 60_000));
    await until(async () =>
      Object(await agent.json(agent.get(`/threads/${thread}/state`))).next?.[0] === 'answer' ? true : undefined,
    );
    await agent.post('/runs/cancel?action=rollback', { thread_id: thread, run_ids: [idOf(place)] });
    await until(async () => ((await agent.get(place)).status === 404 ? true : undefined));
    expect(Object(await agent.json(agent.get(`/threads/${thread}/state`))).values).toEqual({});
  });

  test.each([
    ['pending', ['running', 'interrupted']],
    ['running', ['interrupted', 'success']],
    ['all', ['interrupted', 'interrupted']],
  ])('by status: %s', async (status, expected) => {
    const thread = await agent.thread();
    const first = await agent.run(thread, echo('first', 60_000));
    const second = await agent.run(thread, echo('second'));
    await isRunning(first);
    expect((await agent.post('/runs/cancel', { status })).status).toBe(204);
    const seen = async () => [await agent.status(first), await agent.status(second)];
    await until(async () => ((await seen()).join() === expected.join() ? true : undefined));
    await agent.post('/runs/cancel', { status: 'all' });
    await agent.get(`${first}/join`).then((joined) => joined.text());
  });

  test('cancels none if one is missing', async () => {
    const thread = await agent.thread();
    const place = await agent.run(thread, echo('x', 60_000));
    await isRunning(place);
    const answer = await agent.post('/runs/cancel', { thread_id: thread, run_ids: [idOf(place), UNKNOWN_ID] });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({
      detail: expect.stringMatching(`^Run not found\\. There is no run ${UNKNOWN_ID} on thread ${thread}: `),
    });
    expect(await agent.status(place)).toBe('running');
    await agent.post(`${place}/cancel?wait=1`);
  });

  test.each([
    ['an empty request', {}, ['body']],
    ['status and ids together', { status: 'all', thread_id: UNKNOWN_ID, run_ids: [] }, ['body']],
    ['a thread without run ids', { thread_id: UNKNOWN_ID }, ['body']],
    ['an invalid status', { status: 'success' }, ['body', 'status']],
    ['an invalid id', { thread_id: UNKNOWN_ID, run_ids: ['x'] }, ['body', 'run_ids', 0]],
  ])('rejects %s', { meta: { claims: ['agent.errors.invalid-body'] } }, async (_, body, loc) => {
    const answer = await agent.post('/runs/cancel', body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ detail: [{ loc }] });
  });
});

describe('a batch of runs', () => {
  test('is accepted as a whole, in order', async () => {
    const answer = await agent.post('/runs/batch', [
      { ...echo('a'), on_completion: 'keep' },
      { ...echo('b'), on_completion: 'keep' },
      echo('c'),
    ]);
    const runs: unknown = await answer.json();
    expect(runs).toMatchObject([{ kwargs: { input: { input: 'a' } } }, { kwargs: { input: { input: 'b' } } }, {}]);
    for (const { thread_id, run_id } of Array.isArray(runs) ? runs.slice(0, 2) : []) {
      expect(await agent.json(agent.get(`/threads/${thread_id}/runs/${run_id}/join`))).toMatchObject({
        steps: ['prepare', 'answer'],
      });
    }
  });

  test.each([
    [
      'an unknown assistant',
      { assistant_id: 'ecko' },
      404,
      expect.stringMatching(
        /^Run 1 of the batch: Assistant not found\. No assistant found for "ecko": pass a graph id of this deployment \(.*"echo".*\) or an assistant's uuid\. Did you mean "echo"\?$/,
      ),
    ],
    [
      'a context that violates its schema',
      { assistant_id: 'toned', input: {}, context: { tone: 'loud' } },
      422,
      [{ loc: ['body', 1, 'context', 'tone'] }],
    ],
    [
      'a start too far in the future',
      { ...echo('x'), after_seconds: 3_000_000 },
      422,
      [{ loc: ['body', 1, 'after_seconds'] }],
    ],
    ['an unknown mode', { ...echo('x'), stream_mode: 'nope' }, 422, [{ loc: ['body', 1, 'stream_mode'] }]],
  ])('with %s is rejected as a whole', async (_, wrong, status, detail) => {
    const before = await runsInTheDatabase();
    const answer = await agent.post('/runs/batch', [{ ...echo('x'), on_completion: 'keep' }, wrong]);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ detail });
    expect(await runsInTheDatabase()).toBe(before);
  });
});

test('nulls in a batch are ignored, as in a single run', async () => {
  const empty = { context: null, config: null, metadata: null, webhook: null, stream_mode: null };
  const answer = await agent.post('/runs/batch', [{ ...echo('a'), ...empty, on_completion: 'keep' }]);
  expect([answer.status, await answer.json()]).toMatchObject([200, [{ kwargs: { input: { input: 'a' } } }]]);
});

describe('the runs of a thread', () => {
  test('are listed page by page, by status, with the selected fields', async () => {
    const thread = await agent.thread();
    const places: string[] = [];
    for (const input of ['a', 'b', 'c']) places.unshift(await agent.run(thread, echo(input)));
    // A response may begin before its run has ended: only its body tells.
    await Promise.all(places.map(async (place) => (await agent.get(`${place}/join`)).text()));
    const listed = async (query: string) => agent.json(agent.get(`/threads/${thread}/runs?${query}`));
    const ids = places.map((place) => ({ run_id: idOf(place) }));
    expect(await listed('select=run_id')).toEqual(ids);
    expect(await listed('select=run_id&limit=2')).toEqual(ids.slice(0, 2));
    expect(await listed('select=run_id&limit=2&offset=2')).toEqual(ids.slice(2));
    expect(await listed('select=run_id&select=status&status=success')).toEqual(
      ids.map((id) => ({ ...id, status: 'success' })),
    );
    expect(await listed('status=error')).toEqual([]);
    const refused = await agent.get(`/threads/${thread}/runs?select=nope`);
    expect([refused.status, await refused.json()]).toMatchObject([422, { detail: [{ loc: ['query', 'select', 0] }] }]);
    expect((await agent.get(`/threads/${UNKNOWN_ID}/runs`)).status).toBe(404);
  });

  test('are deleted only after they ended', async () => {
    const thread = await agent.thread();
    const place = await agent.run(thread, echo('x', 60_000));
    const remove = async () =>
      (await serving.fetch(new Request(`http://agent.test${place}`, { method: 'DELETE' }))).status;
    expect(await remove()).toBe(409);
    await agent.post(`${place}/cancel?wait=1`);
    expect([await remove(), await remove()]).toEqual([204, 404]);
  });

  test(
    'are reachable by the singular spelling too',
    { meta: { claims: ['agent.endpoints.thread-spelling-singular'] } },
    async () => {
      const thread = await agent.thread();
      const runs = `/thread/${thread}/runs`;
      expect(await agent.json(agent.post(`${runs}/wait`, echo('one')))).toMatchObject({ output: 'hello one' });
      expect(await (await agent.post(`${runs}/stream`, echo('two'))).text()).toContain('hello two');
      const run = await agent.json(agent.post(runs, echo('three')));
      const place = `${runs}/${String(run['run_id'])}`;
      expect(await agent.json(agent.get(`${place}/join`))).toMatchObject({ output: 'hello three' });
      expect((await agent.get(`${place}/stream`)).status).toBe(200);
      expect((await agent.post(`${place}/cancel`)).status).toBe(409);
      expect(await agent.status(place)).toBe('success');
      expect(await agent.json(agent.get(runs))).toHaveLength(3);
    },
  );

  test('a run can start at a checkpoint given only by its id', async () => {
    const thread = await agent.thread();
    await agent.json(agent.post(`/threads/${thread}/runs/wait`, echo('one')));
    const { checkpoint } = await agent.json(agent.get(`/threads/${thread}/state`));
    await agent.json(agent.post(`/threads/${thread}/runs/wait`, echo('two')));
    const from = { ...echo('three'), checkpoint_id: Object(checkpoint).checkpoint_id };
    expect(await agent.json(agent.post(`/threads/${thread}/runs/wait`, from))).toMatchObject({
      output: 'hello three',
      steps: ['prepare', 'answer', 'prepare', 'answer'],
    });
  });
});

describe('a client that joins a run', () => {
  test.each(['join', 'stream'])('ends it by disconnecting, with cancel_on_disconnect: %s', async (how) => {
    const place = await agent.run(await agent.thread(), echo('x', 60_000));
    await isRunning(place);
    const leave = async (query: string) => {
      const going = new AbortController();
      const answer = await fetch(`${serving.url}${place}/${how}${query}`, { signal: going.signal });
      expect(answer.status).toBe(200);
      going.abort();
    };
    await leave('');
    await leave('?cancel_on_disconnect=0');
    expect(await agent.status(place)).toBe('running');
    await leave('?cancel_on_disconnect=1');
    await until(async () => ((await agent.status(place)) === 'interrupted' ? true : undefined));
  });
});

describe('a caller that waits', () => {
  const wait = async (request: object): Promise<string | null> => {
    const answer = await agent.post(`/threads/${await agent.thread()}/runs/wait`, { ...echo('x'), ...request });
    await answer.text();
    return answer.headers.get('location');
  };

  test('learns where to come back to a run that goes on without it', async () => {
    const location = await wait({ on_disconnect: 'continue' });
    const joined = await agent.get(location ?? '');
    expect([joined.headers.get('location'), Object(await joined.json()).output]).toEqual([location, 'hello x']);
  });

  test('has nowhere to come back to where the run ends with it', async () => {
    expect(await wait({ on_disconnect: 'cancel' })).toBeNull();
    const stateless = await agent.post('/runs/wait', { ...echo('x'), on_disconnect: 'continue' });
    await stateless.text();
    expect(stateless.headers.get('location')).toBeNull();
  });
});
