import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGate } from '../../../partners/clients/gate.ts';
import { until } from '../promises/fixture.ts';
import { asking, eventsOf, sharedDatabase } from '../runs/two-servers.ts';
import type { Asking, Servers } from '../runs/two-servers.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await sharedDatabase();
});
afterAll(() => servers.close());

/** Reads a thread's stream in the background, until the server closes it. */
async function listen(agent: Asking, threadId: string, headers: Record<string, string> = {}) {
  const { body } = await agent.get(`/threads/${threadId}/stream`, headers);
  const heard = { text: '' };
  const over = (async () => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) heard.text += text;
  })();
  const holds = (words: string) => until(async () => (heard.text.includes(words) ? true : undefined));
  return { heard, over, holds };
}

const ENDED = '"status":"run_done"';

test('a thread stream on a stopping process ends without an end of the run', async () => {
  await using gate = await startGate();
  const [leaving, staying] = [await servers.start(), await servers.start()];
  const [here, there] = [asking(leaving), asking(staying)];
  const [continued, otherThread] = [await here.thread(), await here.thread()];
  const slow = { assistant_id: 'gated', input: { input: 'Ada', gate: gate.url } };
  const [own, others] = [await listen(here, continued), await listen(here, otherThread)];
  const onlooker = await listen(there, continued);
  const place = await here.run(continued, slow);
  await there.run(otherThread, slow);
  await until(async () => ((await there.status(place)) === 'running' ? true : undefined));
  for (const { holds } of [own, others, onlooker]) await holds('"attempt":1');
  await leaving.close();
  gate.open();
  for (const { heard, over } of [own, others]) {
    await over;
    expect(heard.text).not.toContain(ENDED);
    expect(heard.text).not.toContain('event: error');
  }
  const lastId = /id: (\d+)(?![^]*id: )/.exec(own.heard.text)?.[1] ?? '';
  const goingOn = await listen(there, continued, { 'last-event-id': lastId });
  for (const { heard, holds } of [goingOn, onlooker]) {
    await holds(ENDED);
    expect(heard.text.split(ENDED)).toHaveLength(2);
    expect(heard.text).not.toContain('event: error');
  }
  expect(await there.status(place)).toBe('success');
});

test('refuses to serve another revision while it serves one', async () => {
  const server = await servers.start({ revisionId: 'one' });
  await server.wake('one');
  await expect(server.wake('two')).rejects.toThrow('Already serving another revision');
  await server.rest();
  await server.wake('two');
  await server.wake('two');
  await expect(server.wake('one')).rejects.toThrow('Already serving another revision');
});

test.each(['', '/threads'])('an error already received is not repeated on resuming (%s/runs)', async (on) => {
  const agent = asking(await servers.start());
  const path = on === '' ? '' : `${on}/${await agent.thread()}`;
  const failing = { assistant_id: 'echo', input: { input: 'Ada', fail: 'no ink' }, stream_resumable: true };
  const started = await agent.post(`${path}/runs/stream`, failing);
  const place = started.headers.get('location') ?? '';
  const error = (await eventsOf(Promise.resolve(started))).at(-1);
  expect(error).toMatchObject({ event: 'error', data: { message: expect.stringContaining('no ink') } });
  const id = Number(error?.id);
  const after = (last: number) => eventsOf(agent.get(place, { 'last-event-id': String(last) }));
  expect(await after(id - 1)).toEqual([error]);
  expect(await after(id)).toEqual([]);
});
