import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import type { FiguresRow } from '../../../../src/services/control/health/figures.ts';
import { createHealthRecorder, type AgentSample } from '../../../../src/services/control/health/recorder.ts';
import { startSampler } from '../../../../src/services/control/health/sampler.ts';
import { loggerTo } from '../../../logger.ts';
import { deploymentId, listen } from '../gateway/parties.ts';

const atTheEnd: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

const log = loggerTo(() => undefined);

/** A recorder whose figures stay here. */
function aRecorder(store?: (rows: readonly FiguresRow[]) => Promise<void>, clock: Clock = systemClock) {
  const stored: FiguresRow[] = [];
  const addFigures = async (rows: readonly FiguresRow[]): Promise<void> => {
    await store?.(rows);
    stored.push(...rows);
  };
  const recorder = createHealthRecorder({ store: { addFigures }, clock, log });
  const sum = (of: (row: FiguresRow) => number): number => stored.reduce((total, row) => total + of(row), 0);
  return {
    recorder,
    stored,
    totals: async () => {
      await recorder.flush();
      const firstEvents = sum(({ first_events }) => first_events.reduce((total, count) => total + count, 0));
      return [sum(({ requests }) => requests), sum(({ errors }) => errors), firstEvents];
    },
  };
}

/** A gateway that counts, with an agent. */
async function inFrontOf(agent: RequestListener | undefined) {
  const { recorder, totals } = aRecorder();
  const { count } = recorder;
  const authorize = async (_id: string, header: (name: string) => string | undefined) =>
    header('cookie') === 'session'
      ? ('session' as const)
      : header('x-api-key') === 'k'
        ? ('allowed' as const)
        : { status: 401 as const, detail: 'No key.' };
  const gateway = new Gateway({ authorize, count, clock: systemClock, log });
  const party = await listen((request, response) => void gateway.handle(request, response));
  atTheEnd.push(() => party.close());
  if (agent) {
    const process = await listen(agent);
    atTheEnd.push(() => process.close());
    gateway.switchTo(deploymentId, { origin: process.origin, token: 'token' });
  }
  const send = async (path: string, init: RequestInit = {}): Promise<void> => {
    const response = await fetch(`${party.origin}/agents/${deploymentId}${path}`, {
      headers: { 'x-api-key': 'k' },
      ...init,
    });
    await response.text().catch(() => undefined);
  };
  return { send, totals, address: `${party.origin}/agents/${deploymentId}` };
}

test('counts admitted requests, and those that get a 5xx or no whole response', async () => {
  const { send, totals } = await inFrontOf((request, response) => {
    if (request.url === '/fails') response.writeHead(500).end();
    else if (request.url === '/missing') response.writeHead(404).end();
    else if (request.url === '/breaks') request.socket.destroy();
    else if (request.url === '/cut') response.writeHead(200).write('started', () => request.socket.destroy());
    else if (request.url === '/failed-and-cut')
      response.writeHead(500).write('started', () => request.socket.destroy());
    else response.end('well');
  });
  await send('/well');
  await send('/missing');
  await send('/well', { headers: {} });
  await send('/well', { method: 'OPTIONS', headers: { origin: 'http://a', 'access-control-request-method': 'GET' } });
  expect(await totals()).toEqual([2, 0, 0]);
  for (const path of ['/fails', '/breaks', '/cut', '/failed-and-cut']) await send(path);
  expect(await totals()).toEqual([6, 4, 0]);
});

test('does not count what a session requests: a console reads its pages again and again', async () => {
  const { send, totals } = await inFrontOf(
    (request, response) => void response.writeHead(request.url === '/' ? 200 : 500).end(),
  );
  await send('/', { headers: { cookie: 'session' } });
  await send('/fails', { headers: { cookie: 'session' } });
  expect(await totals()).toEqual([0, 0, 0]);
});

test('counts requests while nothing is live as errors', async () => {
  const { send, totals } = await inFrontOf(undefined);
  await send('/ok');
  expect(await totals()).toEqual([1, 1, 0]);
});

test('a caller that disconnects is no error', async () => {
  const closed = Promise.withResolvers<void>();
  const { totals, address } = await inFrontOf((_, response) => {
    response.once('close', () => closed.resolve());
    response.writeHead(200).write('started');
  });
  const leaving = new AbortController();
  const response = await fetch(`${address}/endless`, { headers: { 'x-api-key': 'k' }, signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  await closed.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(await totals()).toEqual([1, 0, 0]);
});

const events = (...pieces: string[]): RequestListener => {
  const send = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) await new Promise((resolve) => void response.write(piece, resolve));
    response.end();
  };
  return (_, response) => void send(response);
};
test.each([
  ['after metadata', 1, '/threads/t/runs/stream', ['event: metadata\ndata: {}\n\n', 'event: values\ndata: {}\n\n']],
  ['without a name', 1, '/runs/stream?x=1', [': hello\n\n', 'data: {}\n\n']],
  ['in pieces', 1, '/runs/stream', ['event: metad', 'ata\r\ndata: {"a":', '1}\r\n\r\neve', 'nt: values\r\ndata: 1']],
  ['a long one', 1, '/runs/stream', ['event: metadata\ndata: {}\n\n', `data: ${'x'.repeat(70_000)}`]],
  ['only metadata', 0, '/runs/stream', ['event: metadata\nid: 1\ndata: {', '"data": 1', '}\n\n: still there\n\n']],
  ['of a run that started before', 0, '/threads/t/runs/r/stream', ['event: values\ndata: {}\n\n']],
])('the first event of a stream: %s', async (_, count, path, pieces) => {
  const { send, totals } = await inFrontOf(events(...pieces));
  await send(path, { method: 'POST' });
  expect(await totals()).toEqual([1, 0, count]);
});

test('all that becomes of a request counts at the time of its arrival, and is stored once', async () => {
  let now = Date.UTC(2030, 0, 1);
  const { recorder, stored } = aRecorder(undefined, { now: () => now, sleep: () => new Promise(() => undefined) });
  const record = recorder.count(deploymentId);
  await recorder.flush();
  now += 150_000;
  record.firstEvent();
  record.failed();
  record.failed();
  await recorder.flush();
  await recorder.flush();
  const at = Date.UTC(2030, 0, 1);
  expect(stored).toMatchObject([
    { at, requests: 1, errors: 0 },
    { at, requests: 0, errors: 1 },
  ]);
  expect(stored.length).toBe(2);
});

test('keeps its figures while the database can not be reached, and stores all of them when it ends', async () => {
  let isThere = false;
  const { recorder, stored } = aRecorder(async () => {
    if (!isThere) throw Object.assign(new Error('the server is gone'), { code: '57P01' });
  });
  recorder.count(deploymentId);
  await recorder.flush();
  recorder.count(deploymentId);
  await recorder.flush();
  expect(stored).toEqual([]);
  isThere = true;
  recorder.start();
  await recorder.stop();
  expect(stored.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
});

test('samples the memory, the processor and the queue of agents, and nothing of others', async () => {
  let cpu = 0;
  const agent = await listen((request, response) => {
    expect(request.headers['x-landfall-agent-token']).toBe('token');
    expect(request.url).toBe('/metrics?format=json');
    cpu += 1;
    const body = { queue: { num_pending: 7, num_running: 1 }, process: { memory_bytes: 123, cpu_seconds: cpu } };
    response.end(JSON.stringify(body));
  });
  const others = await Promise.all(
    ['<html>', '{"queue":{"num_pending":-1},"process":{"memory_bytes":1,"cpu_seconds":1}}', 'x'.repeat(300_000)].map(
      (body) => listen((_, response) => void response.end(body)),
    ),
  );
  const cut = await listen((request) => request.socket.destroy());
  for (const process of [agent, cut, ...others]) atTheEnd.push(() => process.close());
  const samples: [string, AgentSample][] = [];
  const twice = Promise.withResolvers<void>();
  const live = [cut, ...others, agent].map(({ origin }) => ({ origin, token: 'token' }));
  const stop = startSampler({
    gateway: { allLive: () => live.map((upstream, index) => [`d-${index}`, upstream]) },
    recorder: {
      sample: (id, sample) => {
        samples.push([id, sample]);
        if (samples.length === 2) twice.resolve();
      },
    },
    clock: systemClock,
    everyMs: 20,
  });
  await twice.promise;
  await stop();
  const [first, second] = samples;
  expect(new Set(samples.map(([id]) => id))).toEqual(new Set(['d-4']));
  expect(first?.[1]).toEqual({ memory_bytes: 123, queue_length: 7, cpu: undefined });
  expect(second?.[1].cpu).toMatchObject({ cpu_ms: 1_000 });
  expect(second?.[1].cpu?.sampled_ms).toBeGreaterThanOrEqual(20);
});
