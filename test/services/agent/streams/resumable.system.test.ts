import { Client } from '@langchain/langgraph-sdk';
import { Client as Database } from 'pg';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, eventsOf, sharedDatabase } from '../runs/two-servers.ts';
import type { Asking, Servers } from '../runs/two-servers.ts';
import type { AgentServerProcess } from '../../../../src/services/agent/server.ts';
import { countingAgent, numbersIn } from './counting-agent.ts';

const agent = countingAgent();
let servers: Servers;
let server: AgentServerProcess;
let here: Asking;
let there: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
  server = await servers.start({ configPath: agent.configPath });
  here = asking(server);
  there = asking(await servers.start({ configPath: agent.configPath }));
});
afterAll(async () => {
  await servers.close();
  agent.remove();
});

const resumable = (input: object) => ({
  assistant_id: 'counts',
  input,
  stream_mode: ['custom'],
  stream_resumable: true,
  on_disconnect: 'continue',
});
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const from = (id: number) => ({ 'last-event-id': String(id) });

describe('resuming a stream', () => {
  test('works after the run has ended, in any process, also if stateless', async () => {
    const stream = await here.post('/runs/stream', resumable({ to: 5 }));
    const place = `${stream.headers.get('content-location')}/stream`;
    expect(stream.headers.get('location')).toBe(place);
    const whole = await eventsOf(Promise.resolve(stream));
    expect(whole.map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4', '5']);
    const thread = await here.thread();
    const kept = await here.post(`/threads/${thread}/runs/stream`, resumable({ to: 5 }));
    const keptAt = `${kept.headers.get('content-location')}/stream`;
    await kept.text();
    for (const requested of [here, there]) {
      expect(numbersIn(await eventsOf(requested.get(keptAt, from(-1))))).toEqual([0, 1, 2, 3, 4]);
      expect(numbersIn(await eventsOf(requested.get(keptAt, from(3))))).toEqual([3, 4]);
      expect(await eventsOf(requested.get(keptAt, from(5)))).toEqual([]);
    }
  });

  test('works during the run, from any event, without gaps or duplicates', async () => {
    const run = await here.json(here.post(`/threads/${await here.thread()}/runs`, resumable({ to: 60, every: 25 })));
    const place = `/threads/${String(run['thread_id'])}/runs/${String(run['run_id'])}/stream`;
    const streams = await Promise.all(
      [-1, 0, 1, 5].flatMap((id) =>
        [here, there].map(async (requested) => [id, await eventsOf(requested.get(place, from(id)))] as const),
      ),
    );
    for (const [id, events] of streams) expect(numbersIn(events)).toEqual(upTo(60).slice(Math.max(0, id)));
  });

  test('works by the location that a client receives which joins by the run’s id alone', async () => {
    const run = await here.json(here.post('/runs', resumable({ to: 60, every: 25 })));
    const joined = await there.get(`/runs/${String(run['run_id'])}/stream`, from(-1));
    const location = joined.headers.get('location') ?? '';
    expect(numbersIn(await eventsOf(Promise.resolve(joined)))).toEqual(upTo(60));
    await until(async () => (await here.get(`/runs/${String(run['run_id'])}/stream`)).status === 404 || undefined);
    expect(numbersIn(await eventsOf(there.get(location, from(50))))).toEqual(upTo(60).slice(50));
  });

  test('works beyond the events in memory', async () => {
    const run = await here.json(
      here.post(`/threads/${await here.thread()}/runs`, resumable({ to: 60, every: 1, size: 50_000 })),
    );
    const place = `/threads/${String(run['thread_id'])}/runs/${String(run['run_id'])}`;
    const during = await eventsOf(here.get(`${place}/stream`, from(-1)));
    expect(numbersIn(during)).toEqual(upTo(60));
    expect(numbersIn(await eventsOf(there.get(`${place}/stream`, from(30))))).toEqual(upTo(60).slice(30));
  });

  test('of a cancelled run ends without an error', async () => {
    const thread = await here.thread();
    const run = await here.json(here.post(`/threads/${thread}/runs`, resumable({ to: 1000, every: 20 })));
    const place = `/threads/${thread}/runs/${String(run['run_id'])}`;
    const followed = [
      eventsOf(here.get(`${place}/stream`, from(-1))),
      eventsOf(there.get(`${place}/stream`, from(-1))),
    ];
    await until(async () => ((await here.status(place)) === 'running' ? true : undefined));
    await here.post(`${place}/cancel?wait=1`);
    expect(await here.status(place)).toBe('interrupted');
    for (const events of await Promise.all([...followed, eventsOf(there.get(`${place}/stream`, from(-1)))])) {
      expect(events[0]?.event).toBe('metadata');
      expect(events.map(({ event }) => event)).not.toContain('error');
    }
  });

  test('returns only the requested modes, in any spelling', async () => {
    const thread = await here.thread();
    const body = { ...resumable({ to: 3 }), stream_mode: ['custom', 'values', 'updates'] };
    const run = await here.json(here.post(`/threads/${thread}/runs`, body));
    const place = `/threads/${thread}/runs/${String(run['run_id'])}/stream`;
    const modes = async (query: string) => [
      ...new Set((await eventsOf(here.get(`${place}?${query}`))).map(({ event }) => event)),
    ];
    expect(await modes('stream_mode=custom')).toEqual(['metadata', 'custom']);
    expect(await modes('stream_mode=custom,updates')).toEqual(['metadata', 'custom', 'updates']);
    expect(await modes('stream_mode=values&stream_mode=updates')).toEqual(['metadata', 'values', 'updates']);
    expect(await modes(`stream_mode=${encodeURIComponent('["values","updates"]')}`)).toEqual([
      'metadata',
      'values',
      'updates',
    ]);
    expect((await here.get(`${place}?stream_mode=nope`)).status).toBe(422);
    expect((await here.get(`${place}?stream_mode=[1]`)).status).toBe(422);
  });

  test('is automatic in the public client when its connection breaks', async () => {
    let broken = 0;
    // A proxy that breaks off the first response midway.
    const between = createServer((requested, answer) => {
      const chunks: Buffer[] = [];
      requested.on('data', (chunk: Buffer) => chunks.push(chunk));
      requested.on('end', () => {
        void (async () => {
          const id = requested.headers['last-event-id'];
          const response = await fetch(`${server.url}${requested.url}`, {
            method: requested.method ?? 'GET',
            headers: { 'content-type': 'application/json', ...(typeof id === 'string' ? { 'last-event-id': id } : {}) },
            ...(requested.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
          });
          answer.writeHead(response.status, Object.fromEntries(response.headers));
          let seen = 0;
          for await (const chunk of response.body ?? []) {
            answer.write(chunk);
            seen += 1;
            if (broken === 0 && seen > 4) {
              broken += 1;
              return answer.destroy();
            }
          }
          return answer.end();
        })();
      });
    });
    between.listen(0, '127.0.0.1');
    await once(between, 'listening');
    try {
      const client = new Client({ apiUrl: `http://127.0.0.1:${Object(between.address()).port}`, apiKey: null });
      const { thread_id } = await client.threads.create();
      const events = [];
      for await (const event of client.runs.stream(thread_id, 'counts', {
        input: { to: 30, every: 20 },
        streamMode: 'custom',
        streamResumable: true,
        onDisconnect: 'continue',
      })) {
        events.push(event);
      }
      expect(broken).toBe(1);
      expect(numbersIn(events)).toEqual(upTo(30));
    } finally {
      between.close();
      between.closeAllConnections();
    }
  });
});

test('stores no event of a run that is neither resumable nor followed remotely', async () => {
  const database = new Database({ connectionString: servers.databaseUrl });
  await database.connect();
  const count = async () => Number((await database.query('select count(*) from run_events')).rows[0]?.count);
  const before = await count();
  const { stream_resumable: _, ...plain } = resumable({ to: 5 });
  await here.post('/runs/stream', plain).then((answer) => answer.text());
  await here.post('/runs/wait', plain).then((answer) => answer.text());
  expect(await count()).toBe(before);
  await database.end();
});
