import { describe, expect, test } from 'vitest';
import { githubPace, Pace } from '../../../app/github/pace.ts';

const limits = { betweenWritesMs: 1000, madeInMinute: 3, madeInHour: 5 };
const forever = Number.POSITIVE_INFINITY;
const minute = 60_000;

/** When each of `count` turns comes that are asked for at 0. */
const turns = (pace: Pace, kind: 'read' | 'change' | 'make', count: number): number[] =>
  Array.from({ length: count }, () => pace.turn(kind, 0, forever).at);

describe('the pace of an installation', () => {
  test('is what GitHub asks for', () =>
    expect(githubPace).toEqual({ betweenWritesMs: 1000, madeInMinute: 80, madeInHour: 500 }));

  test('reads go at once', () => expect(turns(new Pace(limits), 'read', 3)).toEqual([0, 0, 0]));

  test('writes go one a second', () => expect(turns(new Pace(limits), 'change', 4)).toEqual([0, 1000, 2000, 3000]));

  test('what makes something is bounded in a minute and in an hour', () => {
    expect(turns(new Pace(limits), 'make', 6)).toEqual([0, 1000, 2000, minute, minute + 1000, 60 * minute]);
  });

  test('500 in an hour and no more', () => {
    const all = turns(new Pace(), 'make', 1200);
    for (const at of all) {
      expect(all.filter((other) => other > at - 60 * minute && other <= at).length).toBeLessThanOrEqual(500);
      expect(all.filter((other) => other > at - minute && other <= at).length).toBeLessThanOrEqual(80);
    }
  });

  test('a turn too far away is told and not taken', () => {
    const pace = new Pace(limits);
    pace.turn('change', 0, 0);
    expect(pace.turn('change', 0, 500)).toMatchObject({ kind: 'not-before', at: 1000 });
    expect(pace.turn('change', 0, 1000)).toEqual({ kind: 'at', at: 1000 });
  });
});

describe('those who are refused', () => {
  test('are told to come back one after the other', () => {
    const pace = new Pace(limits);
    for (let n = 0; n < 6; n += 1) pace.turn('change', 0, 5000);
    const told = Array.from({ length: 3 }, () => pace.turn('change', 0, 5000));
    expect(told).toMatchObject(
      [{ at: 6000 }, { at: 7000 }, { at: 8000 }].map((each) => ({ kind: 'not-before', ...each })),
    );
  });

  test('find their turn when they come', () => {
    const pace = new Pace(limits);
    const waiting = Array.from({ length: 200 }, () => ({ at: 0 }));
    let asked = 0;
    for (let now = 0; waiting.length > 0; now += 1000) {
      for (const each of waiting.filter(({ at }) => at <= now)) {
        asked += 1;
        const turn = pace.turn('change', now, 5000);
        if (turn.kind === 'at') waiting.splice(waiting.indexOf(each), 1);
        else each.at = turn.at;
      }
    }
    // Twice each at most, and not all of them at every second.
    expect(asked).toBeLessThanOrEqual(400);
  });

  test('may be told so before they ask for the turn, which takes none', () => {
    const pace = new Pace(limits);
    expect(pace.refusal('make', 0, 0)).toBeUndefined();
    pace.turn('make', 0, 0);
    expect(pace.refusal('make', 0, 500)).toMatchObject({ kind: 'not-before', at: 1000 });
    expect(pace.turn('make', 1000, 0)).toEqual({ kind: 'at', at: 1000 });
  });
});

describe('a pause', () => {
  test('holds reads and writes until it is over', () => {
    const pace = new Pace(limits);
    pace.pause(5000, 0, 'slow down', true);
    expect(pace.turn('read', 4999, forever)).toEqual({ kind: 'not-before', at: 5000, why: 'slow down' });
    expect(pace.turn('read', 5000, forever)).toEqual({ kind: 'at', at: 5000 });
  });

  test('without a time doubles with each in a row, up to a quarter of an hour', () => {
    const pace = new Pace(limits);
    let now = 0;
    const lengths = Array.from({ length: 6 }, () => {
      const until = pace.pause(now + minute, now, 'x', false);
      const length = until - now;
      now = until;
      return length / minute;
    });
    expect(lengths).toEqual([1, 2, 4, 8, 15, 15]);
    pace.answered();
    expect(pace.pause(now + minute, now, 'x', false) - now).toBe(minute);
  });

  test('is never made shorter by another', () => {
    const pace = new Pace(limits);
    pace.pause(9000, 0, 'long', true);
    expect(pace.pause(1000, 0, 'short', true)).toBe(9000);
  });
});
