import { describe, expect, test } from 'vitest';
import { githubRateLimits, RateLimiter } from '../../../app/github/rate-limiter.ts';

const limits = { betweenWritesMs: 1000, maxCreatedPerMinute: 3, maxCreatedPerHour: 5 };
const forever = Number.POSITIVE_INFINITY;
const minute = 60_000;

/** When each of `count` turns starts that are requested at 0. */
const turns = (rateLimiter: RateLimiter, kind: 'read' | 'change' | 'make', count: number): number[] =>
  Array.from({ length: count }, () => rateLimiter.turn(kind, 0, forever).at);

describe('the rate limiter of an installation', () => {
  test("follows GitHub's limits", () =>
    expect(githubRateLimits).toEqual({ betweenWritesMs: 1000, maxCreatedPerMinute: 80, maxCreatedPerHour: 500 }));

  test('does not delay reads', () => expect(turns(new RateLimiter(limits), 'read', 3)).toEqual([0, 0, 0]));

  test('limits writes to one per second', () =>
    expect(turns(new RateLimiter(limits), 'change', 4)).toEqual([0, 1000, 2000, 3000]));

  test('limits creations per minute and per hour', () => {
    expect(turns(new RateLimiter(limits), 'make', 6)).toEqual([0, 1000, 2000, minute, minute + 1000, 60 * minute]);
  });

  test('allows at most 500 per hour', () => {
    const all = turns(new RateLimiter(), 'make', 1200);
    for (const at of all) {
      expect(all.filter((other) => other > at - 60 * minute && other <= at).length).toBeLessThanOrEqual(500);
      expect(all.filter((other) => other > at - minute && other <= at).length).toBeLessThanOrEqual(80);
    }
  });

  test('a turn too far away is reported, not taken', () => {
    const rateLimiter = new RateLimiter(limits);
    rateLimiter.turn('change', 0, 0);
    expect(rateLimiter.turn('change', 0, 500)).toMatchObject({ kind: 'not-before', at: 1000 });
    expect(rateLimiter.turn('change', 0, 1000)).toEqual({ kind: 'at', at: 1000 });
  });
});

describe('what strangers cause', () => {
  const strangers = (rateLimiter: RateLimiter, kind: 'read' | 'make', now = 0) =>
    rateLimiter.turn(kind, now, forever, 'strangers');

  test('leaves half of what may be made in an hour to pushes', () => {
    const rateLimiter = new RateLimiter();
    const made = Array.from({ length: 600 }, () => strangers(rateLimiter, 'make').at);
    expect(made.filter((at) => at < 60 * minute)).toHaveLength(250);
    expect(made.filter((at) => at < minute)).toHaveLength(40);
  });

  test('delays a creation of a push by one write', () => {
    const rateLimiter = new RateLimiter();
    for (let at = 0; at < 250; at += 1) rateLimiter.turn('make', 0, 5_000, 'strangers');
    expect(rateLimiter.turn('make', 10_000, 5_000)).toEqual({ kind: 'at', at: 10_000 });
  });

  test.each([
    ['a quarter of its requests left', { remaining: 1_250, limit: 5_000 }, 0, { kind: 'at', at: 0 }],
    ['less than a quarter left', { remaining: 1_249, limit: 5_000 }, 0, { kind: 'not-before', at: minute }],
    ['nothing left, until GitHub counts anew', { remaining: 0, limit: 5_000 }, minute, { at: minute }],
    ['a limit that GitHub does not state', { remaining: 10, limit: 0 }, 0, { kind: 'at', at: 0 }],
  ])('decides about a read with %s', (_, quota, now, expected) => {
    const rateLimiter = new RateLimiter();
    rateLimiter.recordResponse({ ...quota, until: minute });
    expect(strangers(rateLimiter, 'read', now)).toMatchObject(expected);
    expect(rateLimiter.turn('read', now, 0)).toEqual({ kind: 'at', at: now });
  });

  test('waits no longer once the clock was set back', () => {
    const rateLimiter = new RateLimiter();
    const day = 24 * 60 * minute;
    rateLimiter.turn('read', day, 0);
    rateLimiter.recordResponse({ remaining: 1, limit: 5_000, until: day + minute });
    expect(strangers(rateLimiter, 'read')).toMatchObject({ kind: 'not-before', at: minute });
  });
});

describe('a clock that is set back by a day', () => {
  const day = 24 * 60 * minute;

  test('keeps no write waiting', () => {
    const rateLimiter = new RateLimiter(limits);
    expect(rateLimiter.turn('change', day, 0)).toEqual({ kind: 'at', at: day });
    expect(rateLimiter.turn('change', 5_000, 2_000)).toEqual({ kind: 'at', at: 6_000 });
  });

  test('keeps a pause no longer than requested', () => {
    const rateLimiter = new RateLimiter(limits);
    rateLimiter.pause(day + minute, day, 'a rate limit', true);
    expect(rateLimiter.turn('read', 0, 0)).toMatchObject({ kind: 'not-before', at: minute });
    expect(rateLimiter.turn('read', minute + 1, 0)).toEqual({ kind: 'at', at: minute + 1 });
  });
});

describe('refused requests', () => {
  test('get staggered retry times', () => {
    const rateLimiter = new RateLimiter(limits);
    for (let n = 0; n < 6; n += 1) rateLimiter.turn('change', 0, 5000);
    const stated = Array.from({ length: 3 }, () => rateLimiter.turn('change', 0, 5000));
    expect(stated).toMatchObject(
      [{ at: 6000 }, { at: 7000 }, { at: 8000 }].map((each) => ({ kind: 'not-before', ...each })),
    );
  });

  test('get their turn on return', () => {
    const rateLimiter = new RateLimiter(limits);
    const waiting = Array.from({ length: 200 }, () => ({ at: 0 }));
    let requested = 0;
    for (let now = 0; waiting.length > 0; now += 1000) {
      for (const each of waiting.filter(({ at }) => at <= now)) {
        requested += 1;
        const turn = rateLimiter.turn('change', now, 5000);
        if (turn.kind === 'at') waiting.splice(waiting.indexOf(each), 1);
        else each.at = turn.at;
      }
    }
    // Twice each at most, and not all of them at every second.
    expect(requested).toBeLessThanOrEqual(400);
  });

  test('can check for a turn without taking it', () => {
    const rateLimiter = new RateLimiter(limits);
    expect(rateLimiter.refusal('make', 0, 0)).toBeUndefined();
    rateLimiter.turn('make', 0, 0);
    expect(rateLimiter.refusal('make', 0, 500)).toMatchObject({ kind: 'not-before', at: 1000 });
    expect(rateLimiter.turn('make', 1000, 0)).toEqual({ kind: 'at', at: 1000 });
  });
});

describe('a pause', () => {
  test('delays reads and writes until it ends', () => {
    const rateLimiter = new RateLimiter(limits);
    rateLimiter.pause(5000, 0, 'slow down', true);
    expect(rateLimiter.turn('read', 4999, forever)).toEqual({ kind: 'not-before', at: 5000, why: 'slow down' });
    expect(rateLimiter.turn('read', 5000, forever)).toEqual({ kind: 'at', at: 5000 });
  });

  test('without a time doubles with each in a row, up to a quarter of an hour', () => {
    const rateLimiter = new RateLimiter(limits);
    let now = 0;
    const lengths = Array.from({ length: 6 }, () => {
      const until = rateLimiter.pause(now + minute, now, 'x', false);
      const length = until - now;
      now = until;
      return length / minute;
    });
    expect(lengths).toEqual([1, 2, 4, 8, 15, 15]);
    rateLimiter.recordResponse();
    expect(rateLimiter.pause(now + minute, now, 'x', false) - now).toBe(minute);
  });

  test('is never shortened by another', () => {
    const rateLimiter = new RateLimiter(limits);
    rateLimiter.pause(9000, 0, 'long', true);
    expect(rateLimiter.pause(1000, 0, 'short', true)).toBe(9000);
  });
});
