import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, eventsOf, sharedDatabase } from './two-servers.ts';
import type { Asking, Servers } from './two-servers.ts';

let servers: Servers;
let narrow: Asking;
let wide: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
  narrow = asking(await servers.start({ atOnce: 1 }));
  wide = asking(await servers.start());
});
afterAll(() => servers.close());

const echo = (input: string, sleep_ms = 0) => ({ assistant_id: 'echo', input: { input, sleep_ms } });

/** Occupies the only slot of the narrow server; the returned function releases it. */
async function takeTheSlot(): Promise<() => Promise<void>> {
  const thread = await narrow.thread();
  const place = await narrow.run(thread, echo('long', 60_000));
  await until(async () => ((await narrow.status(place)) === 'running' ? true : undefined));
  return async () => {
    expect((await narrow.post(`${place}/cancel?wait=1`)).status).toBe(204);
  };
}

describe('two processes of a deployment', () => {
  test('a run without a free slot is executed by the other and visible at both', async () => {
    const giveBack = await takeTheSlot();
    const place = await narrow.run(await narrow.thread(), { ...echo('taken', 5_000), stream_mode: ['updates'] });
    const joined = narrow.json(narrow.get(`${place}/join`));
    const streamed = eventsOf(narrow.get(`${place}/stream`));
    expect(await joined).toMatchObject({ output: 'hello taken' });
    expect((await streamed).map(({ event }) => event)).toEqual(['metadata', 'updates', 'updates']);
    expect(await narrow.status(place)).toBe('success');
    expect(await wide.json(wide.get(`${place}/join`))).toMatchObject({ output: 'hello taken' });
    expect(servers.lines.join('\n')).toContain('waited for a slot of another process; going on with attempt 1');
    await giveBack();
  });

  test('the client receives all events of a resumable run of another process', async () => {
    const giveBack = await takeTheSlot();
    const stream = narrow.post('/runs/stream', {
      ...echo('followed'),
      stream_mode: ['updates'],
      stream_resumable: true,
      on_disconnect: 'continue',
      on_completion: 'keep',
    });
    const events = await eventsOf(stream);
    expect(events.map(({ event, id }) => `${event} ${id}`)).toEqual(['metadata 0', 'updates 1', 'updates 2']);
    await giveBack();
  });

  test('a run with a connected client stays with its process', async () => {
    const giveBack = await takeTheSlot();
    const thread = await narrow.thread();
    const waited = narrow.json(narrow.post(`/threads/${thread}/runs/wait`, echo('mine')));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await wide.json(wide.get(`/threads/${thread}`)))['status']).toBe('busy');
    await giveBack();
    expect(await waited).toMatchObject({ output: 'hello mine' });
  });

  test('runs on one thread keep their order across processes', async () => {
    const thread = await narrow.thread();
    const requested = [narrow, wide, narrow, wide, narrow];
    const places: string[] = [];
    for (const [at, server] of requested.entries()) places.push(await server.run(thread, echo(`n${at}`, 30)));
    const outputs = await Promise.all(places.map((place) => wide.json(wide.get(`${place}/join`))));
    const last = await wide.json(wide.get(`/threads/${thread}/state`));
    expect(Object(last['values']).output).toBe('hello n4');
    expect(Object(last['values']).steps).toHaveLength(10);
    expect(outputs.map(({ output }) => output)).toEqual(requested.map((_, at) => `hello n${at}`));
  });

  test('many concurrent runs are shared, each executed once', async () => {
    const threads = await Promise.all(Array.from({ length: 12 }, () => narrow.thread()));
    const places = await Promise.all(threads.map((thread) => narrow.run(thread, echo('x', 250))));
    for (const place of places) expect(await wide.json(wide.get(`${place}/join`))).toMatchObject({ output: 'hello x' });
    for (const thread of threads) {
      const { values } = await wide.json(wide.get(`/threads/${thread}`));
      expect(Object(values).steps).toEqual(['prepare', 'answer']);
    }
  });
});

describe.concurrent('requests at one process for the runs of the other', () => {
  test('cancels, joins and follows a run of the other process', async () => {
    const thread = await wide.thread();
    const place = await wide.run(thread, { ...echo('x', 60_000), stream_mode: ['values', 'updates'] });
    await until(async () => ((await wide.status(place)) === 'running' ? true : undefined));
    const followed = eventsOf(narrow.get(`${place}/stream`));
    const joined = narrow.json(narrow.get(`${place}/join`));
    expect((await narrow.post(`${place}/cancel?wait=true`)).status).toBe(204);
    expect(await joined).toMatchObject({ __error__: { error: 'RunCancelled' } });
    const events = await followed;
    expect(events[0]).toMatchObject({ event: 'metadata' });
    expect(await narrow.status(place)).toBe('interrupted');
    expect(events.map(({ event }) => event)).not.toContain('error');
  });

  test('streams live events of the other process once a client follows', async () => {
    const place = await wide.run(await wide.thread(), { ...echo('x', 5_000), stream_mode: ['updates'] });
    await until(async () => ((await wide.status(place)) === 'running' ? true : undefined));
    const events = await eventsOf(narrow.get(`${place}/stream`));
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates']);
    expect(events[1]).toMatchObject({ data: { answer: { output: 'hello x' } } });
  });

  test('returns a stateless run of the other process to a client that waits', async () => {
    const run = await wide.json(wide.post('/runs', echo('stateless', 5_000)));
    const place = `/threads/${String(run['thread_id'])}/runs/${String(run['run_id'])}`;
    const followed = eventsOf(narrow.get(`/runs/${String(run['run_id'])}/stream`));
    expect(await narrow.json(narrow.get(`${place}/join`))).toMatchObject({ output: 'hello stateless' });
    expect((await followed).map(({ event }) => event)).toContain('values');
    expect((await narrow.get(place)).status).toBe(404);
  });

  test('a run returns when the process that took it stops; followers miss nothing', async () => {
    const alone = await sharedDatabase();
    try {
      const small = asking(await alone.start({ atOnce: 1 }));
      const busy = await small.run(await small.thread(), echo('long', 60_000));
      await until(async () => ((await small.status(busy)) === 'running' ? true : undefined));
      const place = await small.run(await small.thread(), { ...echo('x', 5_000), stream_mode: ['updates'] });
      const followed = eventsOf(small.get(`${place}/stream`));
      const joined = small.json(small.get(`${place}/join`));
      const leaving = await alone.start();
      await until(async () => ((await small.status(place)) === 'running' ? true : undefined));
      await leaving.close();
      await small.post(`${busy}/cancel?wait=1`);
      expect(await joined).toMatchObject({ output: 'hello x' });
      expect((await small.json(small.get(place)))['status']).toBe('success');
      const events = await followed;
      expect(events.map(({ event }) => event)).toContain('metadata');
      expect(events.at(-1)).toMatchObject({ event: 'updates', data: { answer: { output: 'hello x' } } });
    } finally {
      await alone.close();
    }
  });

  test('a client waiting for a remote run is released when its server stops', async () => {
    const leaving = await servers.start();
    const third = asking(leaving);
    const place = await wide.run(await wide.thread(), echo('x', 60_000));
    const answer = await third.get(`${place}/join`);
    const followed = eventsOf(third.get(`${place}/stream`));
    await leaving.close();
    await expect(answer.text()).rejects.toThrow('stopped');
    expect((await followed).map(({ event }) => event)).toEqual(['metadata']);
    await wide.post(`${place}/cancel?wait=1`);
  });
});
