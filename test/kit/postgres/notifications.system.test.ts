import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/kit/clock.ts';
import { listenTo } from '../../../src/kit/postgres/notifications.ts';
import { startTestPostgres } from './postgres.ts';

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
let speaker: Client;
beforeAll(async () => {
  postgres = await startTestPostgres();
  speaker = new Client({ connectionString: postgres.url });
  await speaker.connect();
});
afterAll(async () => {
  await speaker.end();
  await postgres.stop();
});

async function until(comesTrue: () => boolean): Promise<void> {
  while (!comesTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('receives notifications, also after the connection was lost', async () => {
  const heard: string[] = [];
  let again = 0;
  const listening = await listenTo({
    url: postgres.url,
    channel: 'test_channel',
    heard: (payload) => heard.push(payload),
    reconnected: () => (again += 1),
    clock: systemClock,
  });
  await speaker.query("select pg_notify('test_channel', 'one'), pg_notify('other_channel', 'no')");
  await until(() => heard.length === 1);
  await speaker.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'landfall-notifications'",
  );
  await until(() => again === 1);
  await speaker.query("select pg_notify('test_channel', 'two')");
  await until(() => heard.length === 2);
  expect(heard).toEqual(['one', 'two']);
  await listening.close();
});

test('rejects at once if the database is not there', async () => {
  await expect(
    listenTo({
      url: 'postgres://user@127.0.0.1:1/none',
      channel: 'test_channel',
      heard: () => undefined,
      reconnected: () => undefined,
      clock: systemClock,
    }),
  ).rejects.toThrow('ECONNREFUSED');
});
