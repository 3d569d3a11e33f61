import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDeliveries } from '../../../app/inbox/deliveries.ts';
import { readIndexedFields } from '../../../app/inbox/delivery.ts';
import { storableJson } from '../../../src/kit/json-text.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { delivery, openInbox, type TestInbox } from './inbox.ts';

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

const day = 24 * 60 * 60_000;

test('removes handled deliveries after two weeks, unhandled ones after 90 days', async () => {
  const now = Date.now();
  const of = (daysAgo: number) => delivery({ receivedAt: now - daysAgo * day });
  const all = { fresh: of(13), old: of(15), stuck: of(89), forgotten: of(91) };
  for (const each of Object.values(all)) await inbox.store(each);
  for (const { id } of [all.fresh, all.old]) await inbox.deliveries.markHandled(id, { kind: 'ignore', why: 'a test' });
  expect(await inbox.deliveries.prune()).toBe(2);
  const kept = (await inbox.deliveries.list({ limit: 10 })).map(({ id }) => id);
  expect(kept).toEqual([all.fresh.id, all.stuck.id]);
  expect((await inbox.deliveries.list({ limit: 10, unhandled: true })).map(({ id }) => id)).toEqual([all.stuck.id]);
  await inbox.database.pool.query('delete from app.deliveries');
});

test('removes more old deliveries than fit into one batch', async () => {
  await inbox.database.pool.query(
    `insert into app.deliveries (id, event, payload, received_at, handled_at)
     select gen_random_uuid(), 'push', '{}', now() - interval '20 days', now() from generate_series(1, 1100)`,
  );
  expect(await inbox.deliveries.prune()).toBe(1_100);
  expect(await inbox.rows()).toBe(0);
});

test('finds the GUIDs that were never received', async () => {
  const [here, gone] = [delivery(), delivery()];
  await inbox.store(here);
  expect(await inbox.deliveries.neverReceived([here.id.toUpperCase(), gone.id])).toEqual([gone.id]);
  expect(await inbox.deliveries.neverReceived([])).toEqual([]);
});

test('truncates a long error, and accepts a NUL in it', async () => {
  const one = delivery();
  await inbox.store(one);
  await openDeliveries(inbox.database.db, systemClock).markFailed(one.id, `a\0${'b'.repeat(5_000)}`);
  expect((await inbox.deliveries.get(one.id))?.lastError).toBe(`a${'b'.repeat(1_999)}`);
});

test('JSON is sanitized for the database', () => {
  expect(storableJson({ a: 'x\0y', b: ['\uDC00'], c: 1 })).toBe('{"a":"x\uFFFDy","b":["\uFFFD"],"c":1}');
});

test.each([
  ['no JSON', '{', undefined],
  ['null', 'null', undefined],
  ['a list', '[]', undefined],
  ['an empty object', '{}', { action: undefined, installationId: undefined, repositoryId: undefined }],
  [
    'a whole one',
    '{"action":"a","installation":{"id":1},"repository":{"id":2}}',
    { action: 'a', installationId: 1, repositoryId: 2 },
  ],
  ['odd ids', '{"installation":{"id":"1"},"repository":{"id":9007199254740993}}', {}],
])('of %s is read what is there', (_, text, read) => {
  expect(readIndexedFields(text)).toEqual(read);
});
