import { beforeEach, describe, expect, test } from 'vitest';
import { goesLive } from '../../deploy/control-model.ts';
import { LaneHouse } from './lane-house.ts';
import { commitOf, terms } from './wishes.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');

let house: LaneHouse;
beforeEach(() => {
  house = new LaneHouse();
});

describe('revisions of others', () => {
  test('of the same commit are adopted, and no second one is made', async () => {
    await house.push('a');
    house.control.restatedByOthers();
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r2' });
    expect(house.made).toBe(1);
  });

  test('that do not tell their commit yet are waited for until they do', async () => {
    await house.push('a');
    house.control.push([
      { after: 0, status: 'QUEUED' },
      { after: 20_000, status: 'BUILDING', commit: a },
      { after: 40_000, status: 'DEPLOYED', commit: a },
    ]);
    await house.run(5_000);
    expect(await house.intent(a)).toMatchObject({ state: 'waiting', decision: { kind: 'wait', revisionId: 'r2' } });
    expect(await house.check(a)).toMatchObject({ status: 'queued' });
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'deployed' }, revisionId: 'r2' });
    expect(house.made).toBe(1);
  });

  test('of another commit are let go first, and the head is built then', async () => {
    house.control.push(goesLive(o));
    await house.push('a');
    await house.run();
    expect(house.made).toBe(2);
    expect(house.serving).toBe(a);
  });

  test('that never end keep nobody waiting for ever', async () => {
    house.control.push([{ after: 0, status: 'BUILDING', commit: o }]);
    await house.push('a');
    await house.run();
    expect(house.made).toBe(2);
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('that come between looking and sending are noticed by the service, and it is decided anew', async () => {
    house.control.heedsIfLatest = true;
    await house.push('a');
    house.control.beforeWrite = () => {
      house.control.beforeWrite = () => undefined;
      house.control.restatedByOthers();
    };
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted' });
    expect(house.made).toBe(1);
  });

  test('that take the place of ours and are of the same commit are followed instead', async () => {
    house.control.scripts.push([
      { after: 0, status: 'QUEUED' },
      { after: 5_000, status: 'SKIPPED' },
    ]);
    await house.push('a');
    await house.run(2_000);
    house.control.restatedByOthers();
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r3' });
  });

  test('that take the place of ours and are of another commit are named', async () => {
    house.control.scripts.push([
      { after: 0, status: 'QUEUED' },
      { after: 5_000, status: 'SKIPPED' },
    ]);
    await house.push('a');
    await house.run(2_000);
    house.control.push(goesLive(o));
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'superseded', by: { commit: o } } });
  });
});

describe('a hosted service that builds by itself', () => {
  const hosted = { ...terms, builder: 'service' as const };

  test('its revision of the commit is found and followed; none is made', async () => {
    await house.push('a', { terms: hosted });
    await house.run(60_000);
    expect(await house.ends(a)).toEqual(['expecting']);
    house.control.restatedByOthers();
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'found' });
    expect(house.control.count('patch')).toBe(0);
  });

  test('where it makes none, that is told and none is made', async () => {
    await house.push('a', { terms: hosted });
    await house.run();
    expect(await house.ends(a)).toEqual(['absent']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'failure' });
    expect(house.control.count('patch')).toBe(0);
  });

  test('a newer push takes the place of one that is expected; a Re-run is asked for by the App', async () => {
    await house.push('a', { terms: hosted });
    await house.run(1_000);
    await house.push('b', { terms: hosted });
    await house.run();
    expect([await house.ends(a), await house.ends(b)]).toEqual([['superseded'], ['absent']]);
    await house.wish(b, { kind: 'rerun', terms: hosted });
    await house.run();
    expect(house.serving).toBe(b);
    expect(house.made).toBe(1);
  });
});
