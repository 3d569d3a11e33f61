import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentConfig } from '../serving.ts';
import { asking, sharedDatabase } from './two-servers.ts';
import type { Asking, Servers } from './two-servers.ts';

let servers: Servers;
let here: Asking;
let there: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
  here = asking(await servers.start({ configPath: agentConfig }));
  there = asking(await servers.start({ configPath: agentConfig }));
});
afterAll(() => servers.close());

const echo = (input: string) => ({ assistant_id: 'echo', input: { input } });
const join = (place: string, at = here) => at.json(at.get(`${place}/join`));

/** Executes runs one after the other on a thread. @returns their locations */
async function oneAfterTheOther(thread: string, ...bodies: object[]): Promise<string[]> {
  const places: string[] = [];
  for (const body of bodies) {
    const place = await here.run(thread, body);
    await join(place);
    places.push(place);
  }
  return places;
}

describe('joining an ended run', () => {
  test('returns its own values, whatever later runs did, by any process', async () => {
    const thread = await here.thread();
    const [first = '', second = ''] = await oneAfterTheOther(thread, echo('a'), echo('b'));
    for (const at of [here, there]) {
      expect(await join(first, at)).toMatchObject({ output: 'hello a', steps: ['prepare', 'answer'] });
      expect(await join(second, at)).toMatchObject({ output: 'hello b' });
    }
  });

  test('returns its values after a manual state update', async () => {
    const thread = await here.thread();
    const [first = ''] = await oneAfterTheOther(thread, echo('a'));
    await here.post(`/threads/${thread}/state`, { values: { output: 'by hand' } });
    expect(await join(first)).toMatchObject({ output: 'hello a' });
  });

  test('returns its values after an unstarted or rolled-back run', async () => {
    const thread = await here.thread();
    const [first = ''] = await oneAfterTheOther(thread, echo('a'));
    const long = { assistant_id: 'echo', input: { input: 'b', sleep_ms: 60_000 } };
    const second = await here.run(thread, long);
    expect(await join(first)).toMatchObject({ output: 'hello a' });
    await here.post(`${second}/cancel?action=rollback&wait=1`);
    expect(await join(first)).toMatchObject({ output: 'hello a' });
    expect((await here.get(`${second}/join`)).status).toBe(404);
    expect((await here.get(`${second}/stream`)).status).toBe(404);
  });

  test('returns its interrupt, also after that was answered', async () => {
    const thread = await here.thread();
    const interrupts = { assistant_id: 'interrupts', input: { request: 'fly' } };
    const [first = '', second = ''] = await oneAfterTheOther(thread, interrupts, {
      assistant_id: 'interrupts',
      command: { resume: 'yes' },
    });
    const waited = { request: 'fly', __interrupt__: [{ value: { question: 'May I fly?' } }] };
    expect(await join(first)).toMatchObject(waited);
    expect(await join(second)).toEqual({ request: 'fly', answer: 'fly: yes' });
  });

  test('returns the previous state if it produced none', async () => {
    const thread = await here.thread();
    const [, second = ''] = await oneAfterTheOther(thread, echo('a'), { assistant_id: 'echo', input: null });
    expect(await join(second)).toMatchObject({ output: 'hello a' });
  });

  test('returns a clear error if its states were removed', async () => {
    const thread = await here.thread();
    const [first = '', second = ''] = await oneAfterTheOther(thread, echo('a'), echo('b'));
    await here.post('/threads/prune', { thread_ids: [thread], strategy: 'keep_latest' });
    expect(await join(second)).toMatchObject({ output: 'hello b' });
    expect(await join(first)).toEqual({
      __error__: { error: 'ResultNotKept', message: expect.stringContaining('its own states were removed') },
    });
  });

  test('returns its error', async () => {
    const thread = await here.thread();
    const fails = { assistant_id: 'echo', input: { input: 'x', fail: 'no ink' } };
    const [first = ''] = await oneAfterTheOther(thread, fails, echo('b'));
    expect(await join(first)).toMatchObject({ __error__: { error: 'RequestedFailure' } });
  });

  test('returns 404 once it is deleted', async () => {
    const [place = ''] = await oneAfterTheOther(await here.thread(), echo('a'));
    expect((await here.post(`${place}/cancel`)).status).toBe(409);
    await here.remove(place);
    expect((await here.get(`${place}/join`)).status).toBe(404);
  });
});

describe('joining a stateless run as it ends', () => {
  test('returns its values or 404, and never an empty result', async () => {
    for (let round = 0; round < 25; round += 1) {
      const { run_id, thread_id } = await here.json(here.post('/runs', echo('quick')));
      const answer = await here.get(`/threads/${String(thread_id)}/runs/${String(run_id)}/join`);
      const reported: unknown = await answer.json();
      if (answer.status === 404) continue;
      expect(reported).toMatchObject({ output: 'hello quick' });
    }
  });

  test('rejects an invalid query', async () => {
    const place = await here.run(await here.thread(), echo('a'));
    expect((await here.get(`${place}/join?cancel_on_disconnect=perhaps`)).status).toBe(422);
  });
});
