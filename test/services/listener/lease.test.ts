import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/contract/service-error.ts';
import type { ServiceErrorKind } from '../../../src/contract/service-error.ts';
import { ClaimLost } from '../../../src/services/control/compute/compute.ts';
import { keepLease } from '../../../src/services/listener/lease.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';

const failure = (kind: ServiceErrorKind): ServiceError =>
  new ServiceError({ kind, operation: 'renew claim', method: 'POST', address: 'here', effect: 'none', detail: 'no' });

const standing = (wanted = true) => ({ claim_id: 'c', expires_at: '', wanted });

/** A lease of nine seconds, and what it was renewed with. */
function lease(answers: (() => Promise<ReturnType<typeof standing>>)[], otherwise = () => Promise.resolve(standing())) {
  const clock = new SimulatedClock(0);
  const renewed: number[] = [];
  const kept = keepLease(
    {
      leaseMs: 9_000,
      clock,
      renew: () => {
        renewed.push(clock.now());
        return (answers.shift() ?? otherwise)();
      },
    },
    0,
  );
  return { clock, renewed, kept };
}

const lostAt = (signal: AbortSignal, clock: SimulatedClock): Promise<number> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(clock.now()), { once: true }));

describe('a lease', () => {
  test('is renewed after each third of its time', async () => {
    const { clock, renewed, kept } = lease([]);
    await clock.sleep(10_000);
    expect(renewed).toEqual([3_000, 6_000, 9_000]);
    expect(kept.signal.aborted).toBe(false);
    await kept.end();
  });

  test('is over by the clock alone, where nothing could be done about it meanwhile', async () => {
    let now = 0;
    const clock = { now: () => now, sleep: () => new Promise<void>(() => now) };
    const kept = keepLease({ leaseMs: 9_000, clock, renew: () => Promise.resolve(standing()) }, 0);
    now = 8_999;
    kept.check();
    expect(kept.lost.aborted).toBe(false);
    now = 9_000;
    expect(() => kept.check()).toThrow(ClaimLost);
    expect([kept.lost.aborted, kept.signal.reason]).toEqual([true, expect.any(ClaimLost)]);
  });

  test('survives failures that pass within its time', async () => {
    const { clock, kept } = lease([
      () => Promise.reject(failure('unreachable')),
      () => Promise.reject(failure('busy')),
    ]);
    await clock.sleep(12_000);
    expect(kept.signal.aborted).toBe(false);
    await kept.end();
  });

  test('is lost by our own clock before anybody else may have it', async () => {
    const { clock, kept } = lease([], () => Promise.reject(failure('unreachable')));
    expect(await lostAt(kept.lost, clock)).toBeLessThanOrEqual(9_000);
    expect(kept.signal.reason).toBeInstanceOf(ClaimLost);
    await kept.end();
  });

  test('does not wait for an answer that does not come', async () => {
    const { clock, kept } = lease([], () => new Promise(() => undefined));
    expect(await lostAt(kept.lost, clock)).toBe(9_000);
    await kept.end();
  });

  test('counts from when the last answered request was sent, not from its answer', async () => {
    const slow = async () => {
      await clock.sleep(2_000);
      return standing();
    };
    const { clock, kept } = lease([slow], () => Promise.reject(failure('unreachable')));
    expect(await lostAt(kept.lost, clock)).toBeLessThanOrEqual(12_000);
    await kept.end();
  });

  test.each(['conflict', 'missing'] as const)('is let go of at once where the service says %s', async (kind) => {
    const { clock, kept } = lease([() => Promise.reject(failure(kind))]);
    expect(await lostAt(kept.signal, clock)).toBe(3_000);
    expect(kept.signal.reason).toBeInstanceOf(ClaimLost);
    expect(kept.lost.aborted).toBe(true);
    await kept.end();
  });

  test('of unwanted work is kept, so that there is time to undo it', async () => {
    const { clock, renewed, kept } = lease([() => Promise.resolve(standing(false))]);
    expect(await lostAt(kept.signal, clock)).toBe(3_000);
    expect(kept.signal.reason).not.toBeInstanceOf(ClaimLost);
    await clock.sleep(7_000);
    expect(kept.lost.aborted).toBe(false);
    expect(renewed).toEqual([3_000, 6_000, 9_000]);
    await kept.end();
  });
});
