import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NamesAtRest } from './names-at-rest.ts';

test('a rename waits for responses in progress, and later ones wait for the rename', async () => {
  const names = new NamesAtRest();
  const order: string[] = [];
  const step = (name: string, ms: number) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await pause(ms);
    order.push(`${name} ends`);
  };
  await Promise.all([
    names.keep(step('first', 20)),
    names.keep(step('second', 10)),
    names.change(step('rename', 10)),
    names.change(step('another rename', 1)),
    names.keep(step('third', 1)),
  ]);
  expect(order.slice(0, 4).toSorted()).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  expect(order.slice(4)).toEqual([
    'rename begins',
    'rename ends',
    'another rename begins',
    'another rename ends',
    'third begins',
    'third ends',
  ]);
});

test('a failure in one does not block the others', async () => {
  const names = new NamesAtRest();
  const fails = (): Promise<void> => Promise.reject(new Error('no such name'));
  await expect(Promise.allSettled([names.keep(fails), names.change(fails)])).resolves.toHaveLength(2);
  await expect(names.keep(() => Promise.resolve('answered'))).resolves.toBe('answered');
});
