import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentConfig } from '../serving.ts';
import { asking, eventsOf, sharedDatabase } from '../runs/two-servers.ts';
import type { Asking, Servers } from '../runs/two-servers.ts';
import { countingAgent, numbersIn } from './counting-agent.ts';

const MB = 1024 * 1024;
const agent = countingAgent();
let servers: Servers;
let here: Asking;
let there: Asking;
let counting: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
  here = asking(await servers.start({ configPath: agentConfig }));
  there = asking(await servers.start({ configPath: agentConfig }));
  counting = asking(await servers.start({ configPath: agent.configPath }));
});
afterAll(async () => {
  await servers.close();
  agent.remove();
});

/** The first part of a stream; the rest is not read. */
async function startOf(answer: Promise<Response>): Promise<string> {
  const { body } = await answer;
  let text = '';
  for await (const bytes of body ?? []) {
    text += new TextDecoder().decode(bytes);
    if (text.split('\nid: ').length > 2) break;
  }
  return text;
}

describe('events and results of a megabyte and more', () => {
  test('arrive complete in another process, during the run and after it', async () => {
    const input = 'ä"'.repeat(MB / 3);
    const run = { assistant_id: 'echo', input: { input, sleep_ms: 1500 }, stream_mode: ['updates', 'values'] };
    const plain = await here.run(await here.thread(), run);
    const place = await here.run(await here.thread(), { ...run, stream_resumable: true });
    const answer = there.json(there.get(`${plain}/join`));
    const events = await eventsOf(there.get(`${place}/stream`));
    expect(events[0]?.event).toBe('metadata');
    expect(Object(events.at(-1)?.data).output).toBe(`hello ${input}`);
    expect((await answer)['output']).toBe(`hello ${input}`);
    expect((await there.json(there.get(`${place}/join`)))['output']).toBe(`hello ${input}`);
    const again = await eventsOf(there.get(`${place}/stream`, { 'last-event-id': '1' }));
    expect(again.map(({ event }) => event)).toEqual(['updates', 'values', 'updates', 'values']);
    expect(Object(again.at(-1)?.data).output).toBe(`hello ${input}`);
  });

  test('are kept up to 64 MB per run; asking for earlier ones is an error', async () => {
    const count = 70;
    const place = await counting.run(await counting.thread(), {
      assistant_id: 'counts',
      input: { to: count, every: 1, size: MB },
      stream_mode: ['custom'],
      stream_resumable: true,
    });
    await counting.json(counting.get(`${place}/join`));
    const database = new Client({ connectionString: servers.databaseUrl });
    await database.connect();
    const { rows } = await database.query<{ bytes: string }>(
      'select sum(octet_length(data)) as bytes from run_events where run_id = $1',
      [place.slice(-36)],
    );
    await database.end();
    expect(Number(rows[0]?.bytes)).toBeLessThan(65 * MB);
    const from = (id: number) => here.get(`${place}/stream`, { 'last-event-id': String(id) });
    const all = await startOf(from(-1));
    const dropped = Number(/^id: (\d+)$/m.exec(all)?.[1]);
    expect(dropped).toBeGreaterThan(4);
    const reported = { run_id: place.slice(-36), attempt: 1, dropped_up_to: dropped };
    expect(all).toMatch(new RegExp(`^event: metadata\ndata: ${JSON.stringify(reported)}$`, 'm'));
    // An event's id is one more than its number.
    expect(all).toContain(`data: {"n":${dropped},`);
    const refused = await from(1);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(`ask for those after ${dropped}, or after -1`);
    expect(await startOf(from(dropped))).toContain(`data: {"n":${dropped},`);
    expect(numbersIn(await eventsOf(from(count - 2)))).toEqual([count - 2, count - 1]);
  });
});
