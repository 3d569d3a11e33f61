import { expect, test } from 'vitest';
import { createReadingBudget } from '../../../app/worker/reading-budget.ts';
import { createTurns } from '../../../app/worker/turns.ts';

const of = (installationId: number, repositoryId: number) => ({ installationId, repositoryId });

test('gives turns to installations and their repositories, not to who sends most', async () => {
  const takeTurn = createTurns();
  const order: string[] = [];
  const take = (name: string, owner: ReturnType<typeof of>) => takeTurn(owner, async () => void order.push(name));
  const all = [
    take('a1', of(1, 1)),
    take('a2', of(1, 1)),
    take('a3', of(1, 1)),
    take('b1', of(1, 2)),
    take('b2', of(1, 2)),
    take('c1', of(2, 3)),
  ];
  await Promise.all(all);
  expect(order).toEqual(['a1', 'c1', 'b1', 'a2', 'b2', 'a3']);
});

test('lets one work at a time, and goes on after a failure', async () => {
  const takeTurn = createTurns();
  let isWorking = false;
  const work = async (fails: boolean): Promise<void> => {
    expect(isWorking).toBe(false);
    isWorking = true;
    await Promise.resolve();
    isWorking = false;
    if (fails) throw new Error('it fails');
  };
  const first = takeTurn(undefined, () => work(true));
  const second = takeTurn(undefined, () => work(false));
  await expect(first).rejects.toThrow('it fails');
  await second;
});

test('bounds what an installation with many repositories has read', () => {
  let now = 0;
  const budget = createReadingBudget({ now: () => now });
  for (let repositoryId = 1; repositoryId <= 6; repositoryId += 1) budget.spend(of(1, repositoryId), 110_000);
  expect(budget.wait(of(1, 9))).toBe(60 * 60_000);
  expect(budget.wait(of(2, 9))).toBeUndefined();
  now += 60 * 60_000;
  expect(budget.wait(of(1, 9))).toBeUndefined();
});
