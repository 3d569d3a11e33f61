import { describe, expect, test } from 'vitest';
import { withGrace, withTimeLimit } from '../../../src/deploy/machine/deadlines.ts';
import { SimulatedClock } from './simulated-clock.ts';

const never = () => new Promise<never>(() => undefined);
const heeding = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('within a time', () => {
  test.each<[string, (clock: SimulatedClock) => (signal: AbortSignal) => Promise<unknown>, string, number]>([
    ['work that is done', (clock) => async () => clock.sleep(50), 'done', 50],
    ['work that takes too long and heeds its signal', () => heeding, 'out-of-time', 100],
    ['work that takes too long and heeds nothing', () => never, 'out-of-time', 100],
  ])('%s', async (_, work, kind, tookMs) => {
    const clock = new SimulatedClock(0);
    expect((await withTimeLimit(clock, 100, undefined, work(clock))).kind).toBe(kind);
    expect(clock.now()).toBe(tookMs);
  });

  test('does not wait for cancelled work, even if that ignores its signal', async () => {
    for (const work of [heeding, never]) {
      const clock = new SimulatedClock(0);
      const parent = new AbortController();
      clock.after(30, () => parent.abort(new Error('cancelled')));
      expect((await withTimeLimit(clock, 100, parent.signal, work)).kind).toBe('ended');
      expect(clock.now()).toBe(30);
    }
  });

  test('rethrows a failure of the work', async () => {
    const failing = withTimeLimit(new SimulatedClock(0), 100, undefined, () => Promise.reject(new TypeError('ours')));
    await expect(failing).rejects.toThrow(TypeError);
  });
});

describe('withGrace', () => {
  test('gives the work a moment after cancellation', async () => {
    const clock = new SimulatedClock(0);
    const parent = new AbortController();
    clock.after(30, () => parent.abort(new Error('cancelled')));
    expect(await withGrace(clock, 1_000, parent.signal, async () => clock.sleep(500).then(() => 'done'))).toBe('done');
    expect(clock.now()).toBe(500);
  });

  test('then cancels it with the same reason', async () => {
    const clock = new SimulatedClock(0);
    const parent = new AbortController();
    clock.after(30, () => parent.abort(new Error('cancelled')));
    await expect(withGrace(clock, 1_000, parent.signal, heeding)).rejects.toThrow('cancelled');
    expect(clock.now()).toBe(1_030);
  });

  test('counts from the start if it was cancelled before', async () => {
    const clock = new SimulatedClock(0);
    await expect(withGrace(clock, 1_000, AbortSignal.abort(new Error('cancelled')), heeding)).rejects.toThrow(
      'cancelled',
    );
    expect(clock.now()).toBe(1_000);
  });

  test('without a signal just runs the work', async () => {
    expect(await withGrace(new SimulatedClock(0), 1_000, undefined, async () => 7)).toBe(7);
  });
});
