import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startGate } from '../../../partners/clients/gate.ts';
import { until } from '../promises/fixture.ts';
import { asking, sharedDatabase, type Servers } from './two-servers.ts';

let servers: Servers;
let database: Client;
beforeEach(async () => {
  servers = await sharedDatabase();
  database = new Client(servers.databaseUrl);
  await database.connect();
});
afterEach(async () => {
  await database.end();
  await servers.close();
});

const later = () => new Date(Date.now() + 3_600_000);
const sleeping = (ms: number) => ({ assistant_id: 'echo', input: { input: 'Ada', sleep_ms: ms } });
const polls = () => new Promise((resolve) => setTimeout(resolve, 1_500));

/** The revisions of processes are not stored: a run's process is. */
async function processOf(place: string): Promise<string | null> {
  const { rows } = await database.query('select process_id from runs where run_id = $1', [place.split('/').at(-1)]);
  return rows[0]?.process_id ?? null;
}

test('a held revision executes only what was created at itself, and the live one none of that', async () => {
  await using gate = await startGate();
  const live = asking(await servers.start({ revisionId: 'r1', atOnce: 1 }));
  const held = await servers.start({ revisionId: 'r2', holdUntil: later(), atOnce: 2 });
  const candidate = asking(held);
  const busy = await live.run(await live.thread(), { assistant_id: 'gated', input: { input: 'Ada', gate: gate.url } });
  const waits = await live.run(await live.thread(), sleeping(0));
  const own = await candidate.run(await candidate.thread(), sleeping(60_000));
  await until(async () => ((await candidate.status(own)) === 'running' ? true : undefined));
  const [ofLive, ofHeld] = [await processOf(busy), await processOf(own)];
  expect(ofHeld).not.toBe(ofLive);
  gate.open();
  await until(async () => ((await live.status(waits)) === 'success' ? true : undefined));
  expect(await processOf(waits)).toBe(ofLive);

  // As at a restart of the service: the same revision goes on with the run, and no other.
  await held.close();
  await polls();
  expect(await processOf(own)).toBeNull();
  const again = await servers.start({ revisionId: 'r2', holdUntil: later() });
  await until(async () => ((await processOf(own)) !== null ? true : undefined));
  expect(await processOf(own)).not.toBe(ofLive);

  await again.endHold('discard');
  await again.close();
  await until(async () => ((await live.status(own)) === 'interrupted' ? true : undefined));
  expect(await live.json(live.get(own.replace(/\/runs\/.*/, '')))).toMatchObject({ status: 'interrupted' });
});

test('fires no crons until it is promoted, and later revisions go on with its runs from then on', async () => {
  const held = await servers.start({ revisionId: 'r2', holdUntil: later() });
  const candidate = asking(held);
  const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { input: 'cron' } };
  await candidate.json(candidate.post('/runs/crons', cron));
  await database.query('update crons set next_run_date = date_trunc($1, now())', ['second']);
  const own = await candidate.run(await candidate.thread(), sleeping(5_000));
  await polls();
  const isDue = async () => (await database.query('select from crons where next_run_date <= now()')).rowCount === 1;
  expect(await isDue()).toBe(true);

  await held.endHold('promote');
  await until(async () => ((await isDue()) ? undefined : true));
  await held.close();
  const next = asking(await servers.start({ revisionId: 'r3' }));
  const ended = async () => {
    const status = await next.status(own);
    return status === 'running' || status === 'pending' ? undefined : status;
  };
  expect(await until(ended)).toBe('success');
});

test('a promoted revision whose process was killed before it knew takes its own runs when it starts', async () => {
  const held = await servers.start({ revisionId: 'r2', holdUntil: later() });
  const candidate = asking(held);
  const own = await candidate.run(await candidate.thread(), sleeping(1_000));
  await held.close();
  const live = asking(await servers.start({ revisionId: 'r2' }));
  const status = await until(async () => [await live.status(own)].find((each) => each === 'success'));
  expect(status).toBe('success');
});
