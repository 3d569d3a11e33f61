import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReadings, type ReadingsOptions } from '../../../app/inbox/readings.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { openInbox, type TestInbox } from './inbox.ts';

let postgres: TestPostgres;
let inbox: TestInbox;
beforeAll(async () => {
  postgres = await startTestPostgres();
  inbox = await openInbox(postgres.url);
});
afterAll(async () => {
  await inbox.close();
  await postgres.stop();
});

let now = 1_700_000_000_000;
/** The marks of a process that starts now. */
const start = (options: Partial<ReadingsOptions> = {}) =>
  openReadings(inbox.database.db, {
    clock: { now: () => now },
    reader: 'pull-request',
    alone: true,
    maxInterruptions: 0,
    ...options,
  });

test('reads again what was read, and never what ended its reader', async () => {
  const readings = start();
  expect(await readings.begin('a', 'first')).toBe(true);
  await readings.end('a', 'read');
  expect(await readings.begin('a', 'first')).toBe(true);
  await readings.end('a', 'died');
  now += 10 * 24 * 60 * 60_000;
  expect([await readings.begin('a', 'first'), await start().begin('a', 'first')]).toEqual([false, false]);
  expect(await start({ reader: 'push' }).begin('a', 'first')).toBe(true);
});

test('reads again after an hour what was late', async () => {
  const readings = start();
  await readings.begin('b', 'first');
  await readings.end('b', 'late');
  expect(await start().begin('b', 'first')).toBe(false);
  now += 60 * 60_000 + 1;
  expect(await readings.begin('b', 'first')).toBe(true);
});

test('does not read again what a process began and never ended', async () => {
  await start().begin('c', 'first');
  expect(await start().begin('c', 'first')).toBe(false);
});

test('reads a pushed file once more after a process that ended while it read', async () => {
  const pushed = { reader: 'push', maxInterruptions: 1 };
  await start(pushed).begin('d', 'first');
  expect(await start(pushed).begin('d', 'first')).toBe(true);
  expect(await start(pushed).begin('d', 'first')).toBe(false);
});

test.each([0, 1])(
  'reads twice at most what ended a reader and then the App, with %i allowed',
  async (maxInterruptions) => {
    const [digest, options] = [`g${maxInterruptions}`, { reader: 'push', maxInterruptions }];
    const readings = start(options);
    expect([await readings.begin(digest, 'first'), await readings.begin(digest, 'again')]).toEqual([true, true]);
    expect(await start(options).begin(digest, 'first')).toBe(false);
  },
);

test('reads no second time after a killed reader what ended a process before', async () => {
  const pushed = { reader: 'push', maxInterruptions: 1 };
  await start(pushed).begin('h', 'first');
  const readings = start(pushed);
  expect([await readings.begin('h', 'first'), await readings.begin('h', 'again')]).toEqual([true, false]);
});

test('forgets both marks of what was read at the second time', async () => {
  const readings = start();
  await readings.begin('i', 'first');
  await readings.begin('i', 'again');
  await readings.end('i', 'read');
  expect(await start().begin('i', 'first')).toBe(true);
});

test('reads what another copy of the App reads now, and not what that one has not ended in time', async () => {
  const beside = { alone: false };
  await start(beside).begin('e', 'first');
  expect(await start(beside).begin('e', 'first')).toBe(true);
  now += 61_000;
  expect(await start(beside).begin('e', 'first')).toBe(false);
});

test('removes old marks with old deliveries', async () => {
  await start().begin('f', 'first');
  await inbox.database.pool.query(`update app.readings set began_at = now() - interval '20 days'`);
  await inbox.deliveries.prune();
  expect(await start().begin('f', 'first')).toBe(true);
});
