import { expect, test } from 'vitest';
import { inGroups } from '../../../app/inbox/store-deliveries.ts';

/** Writes that the test completes. */
function writer(limits: { items?: number; size?: number; concurrency?: number } = {}) {
  const groups: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const write = inGroups<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        groups.push([...items]);
        ends.push((error) => (error ? reject(error) : resolve(items.map((item) => item.toUpperCase()))));
      }),
    { items: 100, size: 1_000, concurrency: 1, sizeOf: (item) => item.length, ...limits },
  );
  const end = async (error?: Error): Promise<void> => {
    ends.shift()?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { groups, write, end };
}

test('writes a single item at once', async () => {
  const { groups, write, end } = writer();
  const result = write('a');
  expect(groups).toEqual([['a']]);
  await end();
  expect(await result).toBe('A');
});

test('items that arrive during a write form the next group', async () => {
  const { groups, write, end } = writer();
  const results = Promise.all(['a', 'b', 'c'].map(write));
  expect(groups).toEqual([['a']]);
  await end();
  expect(groups).toEqual([['a'], ['b', 'c']]);
  await end();
  expect(await results).toEqual(['A', 'B', 'C']);
});

test.each([
  ['items', { items: 2 }, ['a', 'b', 'c', 'd'], [['a'], ['b', 'c'], ['d']]],
  ['size', { size: 5 }, ['a', 'bbb', 'cc', 'ddd'], [['a'], ['bbb', 'cc'], ['ddd']]],
  ['size, but for one that is larger alone', { size: 2 }, ['a', 'bbb', 'c'], [['a'], ['bbb'], ['c']]],
])('a group is bounded by %s', async (_, limits, items, expected) => {
  const { groups, write, end } = writer(limits);
  const results = Promise.all(items.map(write));
  for (let round = 0; round < items.length; round += 1) await end();
  expect(groups).toEqual(expected);
  expect(await results).toEqual(items.map((item) => item.toUpperCase()));
});

test('limits the number of concurrent groups', async () => {
  const { groups, write, end } = writer({ concurrency: 2 });
  const results = Promise.all(['a', 'b', 'c', 'd'].map(write));
  expect(groups).toEqual([['a'], ['b']]);
  await end();
  expect(groups).toEqual([['a'], ['b'], ['c', 'd']]);
  await end();
  await end();
  await results;
});

test('a failing group rejects each of its items, and the next one continues', async () => {
  const { write, end } = writer();
  const results = Promise.allSettled(['a', 'b', 'c', 'd'].map(write));
  await end();
  await end(new Error('broken'));
  const after = write('e');
  await end();
  expect(await results).toMatchObject([
    { value: 'A' },
    { reason: { message: 'broken' } },
    { reason: { message: 'broken' } },
    { reason: { message: 'broken' } },
  ]);
  expect(await after).toBe('E');
});
