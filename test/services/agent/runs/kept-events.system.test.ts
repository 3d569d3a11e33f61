import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunEvents } from '../../../../src/services/agent/runs/run-events.ts';
import { openStorage, type Storage } from '../../../../src/services/agent/storage/open.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { serveAgent, type Serving } from '../serving.ts';

let serving: Serving;
let storage: Storage;
let events: RunEvents;
beforeAll(async () => {
  serving = await serveAgent();
  const processId = randomUUID();
  storage = await openStorage(serving.databaseUrl, processId, silentLogger);
  events = new RunEvents(storage, processId, systemClock);
});
afterAll(async () => {
  await storage.close();
  await serving.close();
});

const post = async (path: string, body: object = {}): Promise<Record<string, unknown>> => {
  const response = await fetch(`${serving.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return response.status === 204 ? {} : Object(await response.json());
};
const stored = async (run: string): Promise<boolean> => (await events.last(run)) >= 0;
/** Later than every event so far. */
const afterAllEvents = (): number => Date.now() + 1_000;

test('a run cancelled before its turn keeps its events until the run before it has ended', async () => {
  const thread = randomUUID();
  const start = async (sleep_ms: number): Promise<string> => {
    const params = { assistant_id: 'echo', input: { input: 'a', sleep_ms } };
    const { result } = await post(`/threads/${thread}/commands`, { id: 1, method: 'run.start', params });
    return String(Object(result).run_id);
  };
  const first = await start(60_000);
  const second = await start(0);
  await post(`/threads/${thread}/runs/${second}/cancel?wait=true`);
  expect(await stored(second)).toBe(true);
  await events.deleteBefore(afterAllEvents());
  expect(await stored(second)).toBe(true);
  const beforeTheEnd = Date.now();
  await post(`/threads/${thread}/runs/${first}/cancel?wait=true`);
  await events.deleteBefore(beforeTheEnd);
  expect([await stored(first), await stored(second)]).toEqual([true, true]);
  await events.deleteBefore(afterAllEvents());
  expect([await stored(first), await stored(second)]).toEqual([false, false]);
});

test.each([
  ['on a thread', true],
  ['without one', false],
])('a resumable run %s keeps its first events as long as its last ones', async (_, isOnThread) => {
  const place = isOnThread ? `/threads/${String((await post('/threads'))['thread_id'])}/runs` : '/runs';
  const response = await fetch(`${serving.url}${place}/stream`, {
    method: 'POST',
    body: JSON.stringify({ assistant_id: 'echo', input: { input: 'a', sleep_ms: 300 }, stream_resumable: true }),
  });
  const run = /runs\/([0-9a-f-]{36})/.exec(response.headers.get('content-location') ?? '')?.[1] ?? '';
  await response.text();
  const { rows } = await storage.pool.query<{ first: Date; last: Date }>(
    'select min(written_at) as first, max(written_at) as last from run_events where run_id = $1',
    [run],
  );
  const [{ first, last } = { first: new Date(0), last: new Date(0) }] = rows;
  expect(first.getTime()).toBeLessThan(last.getTime());
  await events.deleteBefore(last.getTime());
  expect((await storage.pool.query('select from run_events where run_id = $1 and id = 0', [run])).rowCount).toBe(1);
  await events.deleteBefore(afterAllEvents());
  expect(await stored(run)).toBe(false);
});
