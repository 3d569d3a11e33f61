import { beforeEach, describe, expect, test } from 'vitest';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { anIntent } from '../an-intent.ts';
import { commitOf, start } from './requests.ts';

const a = commitOf('a');
const b = commitOf('b');

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

describe('a service that fails', () => {
  const busy = () => serviceError('busy', 'patch', { status: 503, effect: 'unknown' });

  test.each([
    ['honours keys, the request was applied', true, true],
    ['honours keys, the request was not applied', true, false],
    ['ignores keys, the request was applied', false, true],
  ])('makes one revision after a lost response: %s', async (_, honoursKeys, applied) => {
    fixture.control.honoursKeys = honoursKeys;
    fixture.control.fails('patch', busy(), { applied });
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.made).toBe(1);
  });

  test('a repeated request that is refused for a moment loses nothing that the first one made', async () => {
    fixture.control.fails('patch', busy(), { applied: true });
    const patch = fixture.control.patchDeployment.bind(fixture.control);
    let sends = 0;
    fixture.control.patchDeployment = async (...call) => {
      sends += 1;
      if (sends === 2) throw serviceError('busy', 'patch', { status: 429 });
      return patch(...call);
    };
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ how: 'triggered', end: { kind: 'deployed' } });
    expect(fixture.made).toBe(1);
  });

  test('an unknown outcome after a lost response: not sent again, the next push is', async () => {
    fixture.control.honoursKeys = false;
    fixture.control.fails('patch', busy());
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'unknown' } });
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'action_required' });
    await fixture.request(a);
    await fixture.run();
    expect(fixture.control.count('patch')).toBe(1);
    await fixture.push('b');
    await fixture.run();
    expect(fixture.serving).toBe(b);
  });

  test('says that an answered request made no revision, and not that its effect is unknown', async () => {
    fixture.control.honoursKeys = false;
    fixture.control.patchDeployment = (id) => fixture.control.getDeployment(id);
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({
      end: { kind: 'refused', reason: 'The service accepted the change but created no revision.' },
    });
  });

  test('does not repeat a request after a week, when its idempotency key may be gone', async () => {
    fixture.control.fails('patch', busy());
    const { control } = fixture;
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
    await fixture.push('a');
    await fixture.run(500);
    expect(await fixture.check(a)).toMatchObject({ status: 'in_progress' });
    const sent = anIntent('sending', await fixture.intent(a));
    fixture.store.intents.set(sent.id, { ...sent, sentAt: sent.sentAt - 7 * 24 * 60 * 60_000 });
    isAway = false;
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'unknown' } });
    expect(control.count('patch')).toBe(1);
  });

  test('it is overloaded: the request is sent later', async () => {
    fixture.control.fails('patch', serviceError('busy', 'patch', { status: 429, retryAfterMs: 90_000 }), { times: 3 });
    await fixture.push('a');
    await fixture.run(80_000);
    expect(fixture.control.count('patch')).toBe(1);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.made).toBe(1);
  });

  test('a retry time in years while a revision is followed does not stop the queue', async () => {
    const error = serviceError('busy', 'get revision', { status: 429, retryAfterMs: Number.MAX_SAFE_INTEGER });
    await fixture.push('a');
    await fixture.run(500);
    fixture.control.fails('revision', error);
    await fixture.run(60 * 60_000);
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test('it is down for an hour while a push is decided: the check waits, no work is lost', async () => {
    fixture.control.fails('get', serviceError('unreachable', 'get deployment'), { times: 25 });
    await fixture.push('a');
    await fixture.run(1_000);
    expect(await fixture.check(a)).toMatchObject({ status: 'queued' });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test('it is down while a revision is followed: it is observed afterwards', async () => {
    fixture.control.fails('revision', serviceError('unreachable', 'get revision'), { times: 0 });
    await fixture.push('a');
    await fixture.run(3_000);
    fixture.control.fails('revision', serviceError('busy', 'get revision', { status: 502 }), { times: 12 });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test('it refuses: the check says what to change', async () => {
    fixture.control.fails('patch', serviceError('unauthorized', 'patch deployment', { status: 401 }));
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({
      end: { kind: 'refused', advice: 'Check LANDFALL_API_KEY: the service does not accept this key.' },
    });
    expect(fixture.made).toBe(0);
  });

  test('the deployment is gone before anything is sent', async () => {
    fixture.control.service.deployment = { ...present(fixture.control.service.deployment), id: 'd2' };
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['refused']);
  });

  test('the deployment is gone while its revision is followed', async () => {
    await fixture.push('a');
    await fixture.run(3_000);
    fixture.control.service.deployment = { ...present(fixture.control.service.deployment), id: 'd2' };
    fixture.control.fails('revision', serviceError('missing', 'get revision', { status: 404 }), { times: 9 });
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'refused' } });
    expect((await fixture.intent(a)).end?.reason).toContain('The deployment is gone');
  });
});

describe('a rate limit of GitHub', () => {
  test('continues when it is over, and loses nothing', async () => {
    fixture.githubApi.paused = start + 40 * 60_000;
    await fixture.push('a');
    await fixture.run(30 * 60_000);
    expect(fixture.githubApi.reads).toHaveLength(1);
    expect(await fixture.check(a)).toMatchObject({ status: 'queued' });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test('a revision in progress is followed all the same', async () => {
    await fixture.push('a');
    await fixture.run(3_000);
    fixture.githubApi.paused = start + 40 * 60_000;
    await fixture.push('b');
    await fixture.run(5 * 60_000);
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(await fixture.ends(b)).toEqual(['requested']);
    await fixture.run();
    expect(await fixture.ends(b)).toEqual(['deployed']);
  });
});

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is not there');
  return value;
}
