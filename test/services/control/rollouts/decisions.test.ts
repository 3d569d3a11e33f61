import { describe, expect, test, vi } from 'vitest';
import { databaseOf } from '../../../../src/services/control/rollouts/agent-database.ts';
import { newDatabaseName } from '../../../../src/services/control/store/database-names.ts';
import { restartDelay } from '../../../../src/services/control/rollouts/agent-exits.ts';
import { createSemaphore } from '../../../../src/services/control/rollouts/semaphore.ts';

test.each([
  [1, 500],
  [2, 1_000],
  [5, 8_000],
  [8, 60_000],
  [2_000, 60_000],
])('after %i breakdowns in a row an agent restarts in %i ms', (breakdowns, ms) => {
  expect(restartDelay(breakdowns)).toBe(ms);
});

test('the database name comes from the row and is valid for Postgres', () => {
  const { database, role, password } = databaseOf({
    database_name: newDatabaseName(),
    database_password: 'secret',
  });
  expect([database, role, password]).toEqual([
    expect.stringMatching(/^landfall_agent_[0-9a-f]{32}$/),
    database,
    'secret',
  ]);
  expect(database.length).toBeLessThan(64);
});

test.each([
  ['the requested number', 5, 5],
  ['the default for 0, with which its role could not connect', 0, undefined],
  ['the default without a setting', null, undefined],
])('a deployment may use this many connections: %s', (_, db_max_connections, connections) => {
  const source_config = { resource_spec: { db_max_connections } };
  expect(databaseOf({ database_name: 'x', database_password: '', source_config }).connections).toBe(connections);
});

describe('slots', () => {
  const never = new AbortController().signal;
  const taken = async (waiting: Promise<unknown>): Promise<boolean> =>
    Promise.race([waiting.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

  test('limits how many are out, and serves waiters in order', async () => {
    const two = createSemaphore(2);
    const [first, second, third, fourth] = [never, never, never, never].map((signal) => two.take(signal));
    if (!first || !second || !third || !fourth) throw new Error('no slot was granted');
    expect(await Promise.all([first, second, third, fourth].map(taken))).toEqual([true, true, false, false]);
    (await first)?.();
    expect(await Promise.all([third, fourth].map(taken))).toEqual([true, false]);
    (await second)?.();
    expect(await taken(fourth)).toBe(true);
  });

  test('runs work in slots, also after one failed, and a preferred one next', async () => {
    const one = createSemaphore(1);
    const begun: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const work = (key: string): Promise<void> =>
      one.run(key, async () => {
        begun.push(key);
        const end = Promise.withResolvers<void>();
        ends.set(key, end);
        await end.promise;
      });
    const [first, ...others] = ['first', 'second', 'third', 'fourth'].map(work);
    await vi.waitFor(() => expect(begun).toEqual(['first']));
    one.moveToFront('fourth');
    one.moveToFront('unknown');
    ends.get('first')?.reject(new Error('failed'));
    await expect(first).rejects.toThrow('failed');
    for (const key of ['fourth', 'second', 'third']) {
      await vi.waitFor(() => expect(begun.at(-1)).toBe(key));
      ends.get(key)?.resolve();
    }
    await Promise.all(others);
    expect(begun).toEqual(['first', 'fourth', 'second', 'third']);
  });

  test('skips a waiter that gave up', async () => {
    const one = createSemaphore(1);
    const giveBack = await one.take(never);
    const leaving = new AbortController();
    const left = one.take(leaving.signal);
    const next = one.take(never);
    leaving.abort();
    expect(await left).toBeUndefined();
    giveBack?.();
    expect(await taken(next)).toBe(true);
    expect(await one.take(leaving.signal)).toBeUndefined();
  });
});
