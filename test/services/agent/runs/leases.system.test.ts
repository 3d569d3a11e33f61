import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGate } from '../../../partners/clients/gate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/fixture.ts';
import { agentConfig } from '../serving.ts';

let postgres: TestPostgres;
const started: AgentProcess[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ gone }) => gone));
});
afterAll(() => postgres.stop());

async function start(more: Record<string, string> = {}) {
  const process = await startAgentProcess({
    LANDFALL_GRAPH_CONFIG: agentConfig,
    DATABASE_URI: postgres.url,
    LANDFALL_LEASE_MS: '2000',
    ...more,
  });
  started.push(process);
  const json = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return Object(await (await fetch(`${process.url}${path}`, init)).json());
  };
  return { ...process, json };
}

async function query(text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

const storedEvents = async (runId: string) =>
  (await query('select from run_events where run_id = $1', [runId])).rowCount;

const quick = (input: string) => ({ assistant_id: 'echo', input: { input } });
const gated = (input: string, gate: string) => ({ assistant_id: 'gated', input: { input, gate } });

describe('a process presumed dead', () => {
  test('that resumes changes nothing of a run taken over, and gets its outcome', async () => {
    await using gate = await startGate();
    const [frozen, other] = await Promise.all([start(), start()]);
    const { thread_id } = await frozen.json('/threads', {});
    const runs = `/threads/${String(thread_id)}/runs`;
    const state = `/threads/${String(thread_id)}/state`;
    const { run_id } = await frozen.json(runs, { ...gated('first', gate.url), stream_mode: ['updates'] });
    const joined = frozen.json(`${runs}/${String(run_id)}/join`);
    await until(async () => (Object(await other.json(state)).next?.[0] === 'answer' ? true : undefined));
    // Its connections stay open, so that only the lease expires.
    frozen.child.kill('SIGSTOP');
    gate.open();
    const second = await other.json(`${runs}/wait`, quick('second'));
    expect(second).toMatchObject({ output: 'hello second', steps: ['prepare', 'answer', 'prepare', 'answer'] });
    const before = await other.json(state);
    expect(await other.json(`${runs}/${String(run_id)}`)).toMatchObject({ status: 'success' });
    expect(other.output.join('\n')).toContain(
      `${String(run_id)} was left by a process that is gone; going on with attempt 2`,
    );
    frozen.child.kill('SIGCONT');
    expect(await joined).toMatchObject({ output: 'hello first', steps: ['prepare', 'answer'] });
    // Its pending writes have been tried by now: it writes the outcome after the checkpoints.
    expect(await other.json(state)).toEqual(before);
    const ended = await other.json(`${runs}/${String(run_id)}`);
    const third = await frozen.json(`${runs}/wait`, quick('third'));
    expect(Object(third).steps).toHaveLength(6);
    expect(await other.json(`${runs}/${String(run_id)}`)).toEqual(ended);
    // The rejected writes are not blamed on the agent.
    expect(frozen.log).toEqual([]);
  });

  test('keeps its lease no longer if the database’s clock is set back by a day', async () => {
    await using gate = await startGate();
    const [frozen, other] = await Promise.all([start(), start()]);
    const { thread_id } = await frozen.json('/threads', {});
    const { run_id } = await frozen.json(`/threads/${String(thread_id)}/runs`, gated('first', gate.url));
    await until(async () =>
      Object(await other.json(`/threads/${String(thread_id)}/state`)).next?.[0] === 'answer' ? true : undefined,
    );
    frozen.child.kill('SIGSTOP');
    gate.open();
    await query(`update processes set lease_until = lease_until + interval '1 day'`);
    const place = `/threads/${String(thread_id)}/runs/${String(run_id)}`;
    expect(await other.json(`${place}/join`)).toMatchObject({ output: 'hello first' });
  });

  test('kill -9 loses no stored event of a resumable run, and its stream continues', async () => {
    await using gate = await startGate();
    const killed = await start();
    const { thread_id } = await killed.json('/threads', {});
    const runs = `/threads/${String(thread_id)}/runs`;
    const body = { ...gated('x', gate.url), stream_mode: ['updates'], stream_resumable: true };
    const { run_id } = await killed.json(runs, body);
    const place = `${runs}/${String(run_id)}`;
    await until(async () =>
      Object(await killed.json(`/threads/${String(thread_id)}/state`)).next?.[0] === 'answer' ? true : undefined,
    );
    // Events are buffered for some milliseconds before they are stored.
    await expect.poll(() => storedEvents(String(run_id))).toBe(2);
    killed.child.kill('SIGKILL');
    await killed.gone;
    gate.open();
    const next = await start();
    const text = await (await fetch(`${next.url}${place}/stream`, { headers: { 'last-event-id': '-1' } })).text();
    expect(text.match(/^(event|id): .*$/gm)).toEqual([
      'event: metadata',
      'id: 0',
      'event: updates',
      'id: 1',
      'event: metadata',
      'id: 1000000000',
      'event: updates',
      'id: 1000000001',
    ]);
    expect(text).toContain('"attempt":2');
    const rest = await (await fetch(`${next.url}${place}/stream`, { headers: { 'last-event-id': '1' } })).text();
    expect(rest.match(/^id: .*$/gm)).toEqual(['id: 1000000000', 'id: 1000000001']);
  });
});
