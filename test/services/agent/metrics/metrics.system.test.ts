import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ atOnce: 1 });
});
afterAll(() => serving.close());

const ask = (path: string) => fetch(`${serving.url}${path}`);
const figures = async () => (await ask('/metrics?format=json')).json();

/** Starts a background run that takes this long. */
async function start(sleepMs: number): Promise<string> {
  const answer = await fetch(`${serving.url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'echo', input: { input: 'x', sleep_ms: sleepMs }, on_completion: 'keep' }),
  });
  return answer.headers.get('content-location') ?? '';
}

describe('GET /metrics', () => {
  test('returns the Prometheus format: help, type and value of each metric', async () => {
    await ask('/threads/00000000-0000-4000-8000-000000000000');
    await ask('/nothing/here');
    const answer = await ask('/metrics');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    const text = await answer.text();
    for (const line of text.split('\n')) {
      expect(line).toMatch(/^$|^# (?:HELP|TYPE) \w+ .+$|^\w+(?:\{.*\})? -?[\d.e+-]+$/);
    }
    expect(text).toMatch(/^lg_api_workers_max 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
    expect(text).toContain('lg_api_http_requests_total{method="GET",path="/threads/:thread_id",status="404"} 1');
  });

  test('says what is due, and when the next work is', async () => {
    expect(await figures()).toMatchObject({ work: { unfinished: 0, next_at: null } });
    const cron = await fetch(`${serving.url}/runs/crons`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'echo', schedule: '0 0 1 1 *', input: {} }),
    });
    const { cron_id, next_run_date } = Object(await cron.json());
    expect(await figures()).toMatchObject({ work: { unfinished: 0, next_at: new Date(next_run_date).toISOString() } });
    await fetch(`${serving.url}/runs/crons/${cron_id}`, { method: 'DELETE' });
    const place = await start(60_000);
    expect(await figures()).toMatchObject({ work: { unfinished: 1, next_at: null } });
    await fetch(`${serving.url}${place}/cancel?wait=true`, { method: 'POST' });
    expect(await figures()).toMatchObject({ work: { unfinished: 0, next_at: null } });
  });

  test('adds no metric for unknown paths', async () => {
    for (const id of ['a', 'b', 'c']) await ask(`/nothing/${id}`);
    expect(await (await ask('/metrics')).text()).not.toContain('/nothing/');
  });

  test('counts queued and active runs until they end', async () => {
    expect(await figures()).toMatchObject({
      queue: { num_pending: 0, num_running: 0 },
      workers: { max: 1, active: 0, available: 1 },
    });
    const places = [await start(60_000), await start(60_000)];
    await until(async () => {
      const { queue, workers } = Object(await figures());
      return queue.num_running === 1 && queue.num_pending === 1 && workers.available === 0 ? true : undefined;
    });
    for (const place of places) await fetch(`${serving.url}${place}/cancel?wait=true`, { method: 'POST' });
    await until(async () => {
      const { queue, workers } = Object(await figures());
      return queue.num_running === 0 && queue.num_pending === 0 && workers.active === 0 ? true : undefined;
    });
  });

  test('rejects an unknown format', async () => {
    const answer = await ask('/metrics?format=xml');
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['query', 'format'] })] },
    ]);
  });
});

describe('GET /ok', () => {
  test.each(['/ok', '/ok?check_db=0', '/ok?check_db=1', '/ok?check_db=true'])('%s returns ok', async (path) => {
    const answer = await ask(path);
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
  });

  test('checks the database only on request', async () => {
    const server = await serveAgent();
    await server.rest();
    const idle = await server.fetch(new Request('http://agent.test/ok?check_db=1'));
    expect(idle.status).toBe(503);
    await server.close();
  });
});

test(
  'GET /info returns the version, the features and the server’s name',
  { meta: { claims: ['agent.system.info'] } },
  async () => {
    expect(await (await ask('/info')).json()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      context: 'js',
      flags: expect.objectContaining({ assistants: true, crons: true, store: true, webhooks: true }),
      metadata: { server: 'landfall' },
    });
  },
);
