import { beforeEach, describe, expect, test } from 'vitest';
import { serviceError } from '../../deploy/control-model.ts';
import { LaneHouse } from './lane-house.ts';
import { commitOf, start } from './wishes.ts';

const a = commitOf('a');
const b = commitOf('b');

let house: LaneHouse;
beforeEach(() => {
  house = new LaneHouse();
});

describe('a service that fails', () => {
  const busy = () => serviceError('busy', 'patch', { status: 503, effect: 'unknown' });

  test.each([
    ['heeds keys, and the request took effect', true, true],
    ['heeds keys, and the request did not', true, false],
    ['heeds no keys, and the request took effect', false, true],
  ])('an answer is lost; the service %s: one revision, followed', async (_, heedsKeys, applied) => {
    house.control.heedsKeys = heedsKeys;
    house.control.fails('patch', busy(), { applied });
    await house.push('a');
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
    expect(house.made).toBe(1);
  });

  test('an answer is lost, and nobody can tell: it is not sent again, and the next push is', async () => {
    house.control.heedsKeys = false;
    house.control.fails('patch', busy());
    await house.push('a');
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'unknown' } });
    expect(await house.check(a)).toMatchObject({ conclusion: 'action_required' });
    await house.wish(a);
    await house.run();
    expect(house.control.count('patch')).toBe(1);
    await house.push('b');
    await house.run();
    expect(house.serving).toBe(b);
  });

  test('it heeds keys and is away for a week: by then it may have forgotten the key, and it is not sent again', async () => {
    house.control.fails('patch', busy());
    const { control } = house;
    let isAway = false;
    const looks = control.getDeployment.bind(control);
    control.getDeployment = async (id, options) => {
      if (isAway) throw serviceError('unreachable', 'get deployment');
      return looks(id, options);
    };
    const features = control.features.bind(control);
    control.features = async () => {
      if (isAway) throw serviceError('unreachable', 'features');
      return features();
    };
    control.beforeWrite = () => void (isAway = true);
    await house.push('a');
    await house.run(500);
    expect(await house.check(a)).toMatchObject({ status: 'in_progress' });
    const sent = await house.intent(a);
    house.store.intents.set(sent.id, { ...sent, sentAt: (sent.sentAt ?? 0) - 7 * 24 * 60 * 60_000 });
    isAway = false;
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'unknown' } });
    expect(control.count('patch')).toBe(1);
  });

  test('it is overloaded: the request is sent once it is not', async () => {
    house.control.fails('patch', serviceError('busy', 'patch', { status: 429, retryAfterMs: 90_000 }), { times: 3 });
    await house.push('a');
    await house.run(80_000);
    expect(house.control.count('patch')).toBe(1);
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
    expect(house.made).toBe(1);
  });

  test('it asks to wait for years while a revision is followed: the lane looks again all the same', async () => {
    const error = serviceError('busy', 'get revision', { status: 429, retryAfterMs: Number.MAX_SAFE_INTEGER });
    await house.push('a');
    await house.run(500);
    house.control.fails('revision', error);
    await house.run(60 * 60_000);
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('it is away for an hour while a push is decided: the check is there, and nothing is lost', async () => {
    house.control.fails('get', serviceError('unreachable', 'get deployment'), { times: 25 });
    await house.push('a');
    await house.run(1_000);
    expect(await house.check(a)).toMatchObject({ status: 'queued' });
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('it is away while a revision is followed: it is looked at when it is back', async () => {
    house.control.fails('revision', serviceError('unreachable', 'get revision'), { times: 0 });
    await house.push('a');
    await house.run(3_000);
    house.control.fails('revision', serviceError('busy', 'get revision', { status: 502 }), { times: 12 });
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('it refuses: the check says what to change', async () => {
    house.control.fails('patch', serviceError('unauthorized', 'patch deployment', { status: 401 }));
    await house.push('a');
    await house.run();
    expect(await house.intent(a)).toMatchObject({
      end: { kind: 'refused', advice: 'Check LANDFALL_API_KEY: the service does not take this key.' },
    });
    expect(house.made).toBe(0);
  });

  test('the deployment is gone before anything is sent', async () => {
    house.control.service.deployment = { ...present(house.control.service.deployment), id: 'd2' };
    await house.push('a');
    await house.run();
    expect(await house.ends(a)).toEqual(['refused']);
  });

  test('the deployment is gone while its revision is followed', async () => {
    await house.push('a');
    await house.run(3_000);
    house.control.service.deployment = { ...present(house.control.service.deployment), id: 'd2' };
    house.control.fails('revision', serviceError('missing', 'get revision', { status: 404 }), { times: 9 });
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'refused' } });
    expect((await house.intent(a)).end?.reason).toContain('The deployment is gone');
  });
});

describe('GitHub asks to wait', () => {
  test('the lane looks again when that is over, and loses nothing', async () => {
    house.hub.paused = start + 40 * 60_000;
    await house.push('a');
    await house.run(30 * 60_000);
    expect(house.hub.reads).toHaveLength(1);
    expect(await house.check(a)).toMatchObject({ status: 'queued' });
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('a revision that is under way is followed all the same', async () => {
    await house.push('a');
    await house.run(3_000);
    house.hub.paused = start + 40 * 60_000;
    await house.push('b');
    await house.run(5 * 60_000);
    expect(await house.ends(a)).toEqual(['deployed']);
    expect(await house.ends(b)).toEqual(['wished']);
    await house.run();
    expect(await house.ends(b)).toEqual(['deployed']);
  });
});

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is not there');
  return value;
}
