import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, sharedDatabase } from './two-servers.ts';
import type { Asking, Servers } from './two-servers.ts';

let servers: Servers;
let agent: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
  agent = asking(await servers.start());
});
afterAll(() => servers.close());

const echo = (input: string, more: object = {}) => ({ assistant_id: 'echo', input: { input }, ...more });
const ended = (place: string) => agent.json(agent.get(`${place}/join`));
const steps = (values: unknown) => Object(values).steps.length;

describe('a delayed run', () => {
  test('blocks no other run, and is queued when its time comes', async () => {
    const thread = await agent.thread();
    const later = await agent.run(thread, echo('later', { after_seconds: 10 }));
    expect(await agent.json(agent.post(`/threads/${thread}/runs/wait`, echo('now')))).toMatchObject({
      output: 'hello now',
    });
    expect(await agent.status(later)).toBe('pending');
    const slow = await agent.run(thread, { assistant_id: 'echo', input: { input: 'slow', sleep_ms: 300 } });
    const last = await agent.run(thread, echo('last', { after_seconds: 0.1 }));
    expect(steps(await ended(slow))).toBe(4);
    expect(steps(await ended(last))).toBe(6);
    expect(steps(await ended(later))).toBe(8);
  });

  test('is not ended by a run that interrupts earlier ones', async () => {
    const thread = await agent.thread();
    const later = await agent.run(thread, echo('later', { after_seconds: 4 }));
    await agent.post(`/threads/${thread}/runs/wait`, echo('now', { multitask_strategy: 'interrupt' }));
    await ended(later);
    expect(await agent.status(later)).toBe('success');
  });

  test('keeps its thread busy for the reject strategy, and can be cancelled', async () => {
    const thread = await agent.thread();
    const later = await agent.run(thread, echo('later', { after_seconds: 3600 }));
    const rejected = await agent.post(`/threads/${thread}/runs`, echo('now', { multitask_strategy: 'reject' }));
    expect(rejected.status).toBe(409);
    expect((await agent.post(`${later}/cancel?wait=1`)).status).toBe(204);
    expect(await agent.status(later)).toBe('interrupted');
    expect((await agent.json(agent.get(`/threads/${thread}`)))['status']).toBe('idle');
  });

  test('moves to the next process as soon as its own one stops', async () => {
    const leaving = await servers.start({ drainMs: 600_000 });
    const thread = await agent.thread();
    const place = await asking(leaving).run(thread, echo('later', { after_seconds: 2 }));
    await leaving.close();
    expect(await ended(place)).toMatchObject({ output: 'hello later' });
    const run = await until(async () => {
      const seen = await agent.json(agent.get(place));
      return seen['status'] === 'success' ? seen : undefined;
    });
    expect(Date.parse(String(run['run_started_at'])) - Date.parse(String(run['created_at']))).toBeGreaterThanOrEqual(
      1995,
    );
  });
});
