import { beforeEach, describe, expect, test } from 'vitest';
import { goesLive } from '../../deploy/control-model.ts';
import { LaneHouse } from './lane-house.ts';
import { commitOf, tested } from './wishes.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');
const c = commitOf('c');

let house: LaneHouse;
beforeEach(() => {
  house = new LaneHouse();
});

describe('a wrong answer', () => {
  beforeEach(() => house.verdicts.set(a, 'failed'));

  test('is told where nobody wished for a way back', async () => {
    await house.push('a', { terms: { ...tested, onFailure: 'keep' } });
    await house.run();
    expect(await house.ends(a)).toEqual(['broken']);
    expect(house.serving).toBe(a);
  });

  test('brings the former revision back; the commit is not tried again by itself, the next other one is', async () => {
    await house.push('a', { terms: tested });
    await house.run();
    expect(await house.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect((await house.intent(a)).end).toMatchObject({ kind: 'rolled-back', rolledBackTo: 'r1' });
    expect(await house.check(a)).toMatchObject({ conclusion: 'failure' });
    expect(house.serving).toBe(o);
    await house.wish(a, { terms: tested });
    await house.run();
    expect(house.made).toBe(2);
    expect(await house.check(a)).toMatchObject({ conclusion: 'failure' });
    await house.push('b', { terms: tested });
    await house.run();
    expect(house.serving).toBe(b);
  });

  test('holds pushes where that is wished for, until a person presses Redeploy', async () => {
    const holding = { ...tested, rules: { ...tested.rules, afterRollback: 'hold' as const } };
    await house.push('a', { terms: holding });
    await house.run();
    await house.push('b', { terms: holding });
    await house.run();
    expect(await house.ends(b)).toEqual(['held']);
    expect(await house.check(b)).toMatchObject({ conclusion: 'action_required' });
    await house.push('c', { terms: holding });
    await house.run();
    expect([await house.ends(b), await house.ends(c)]).toEqual([['superseded'], ['held']]);
    await house.wish(c, { kind: 'redeploy', terms: holding });
    await house.run();
    expect(await house.ends(c)).toEqual(['joined', 'deployed']);
    expect(house.serving).toBe(c);
    expect(await house.store.lane('d1')).toEqual({ deploymentId: 'd1' });
  });

  test('of the former revision too is told as what it is', async () => {
    house.verdicts.set(o, 'failed');
    await house.push('a', { terms: tested });
    await house.run();
    expect(await house.ends(a)).toEqual(['broken', 'broken']);
    expect((await house.intent(a)).end?.reason).toContain('which did not help');
    expect(house.made).toBe(2);
  });

  test('is told with the reason where the service does not go back', async () => {
    house.control.lacks.add('redeploy');
    await house.push('a', { terms: tested });
    await house.run();
    expect(await house.ends(a)).toEqual(['broken', 'refused']);
    expect((await house.intent(a)).end?.reason).toContain('Not rolled back');
  });

  test('is left alone where another revision is about to take over', async () => {
    await house.push('a', { terms: tested });
    await house.run(31_000);
    house.control.push(goesLive(b));
    await house.run();
    expect(await house.ends(a)).toEqual(['broken', 'skipped']);
    await house.control.getDeployment('d1');
    expect(house.serving).toBe(b);
  });
});
