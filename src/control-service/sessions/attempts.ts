import { steadyNow, type Clock } from '../../clock.ts';

/** The wrong keys and codes of one address, and the time of the last one (ms of a monotonic clock). */
export interface WrongAttempts {
  count: number;
  at: number;
}

/** How many wrong attempts are free, and the bounds of the delay after the others (ms). */
const freeAttempts = 4;
const shortestDelayMs = 1_000;
const longestDelayMs = 60_000;
/** When an address has its free attempts again (ms after its last wrong one). */
export const forgottenAfterMs = 15 * 60_000;

/** How long nothing is judged after this many wrong attempts in a row (ms). */
export const delayAfter = (count: number): number =>
  count <= freeAttempts ? 0 : Math.min(shortestDelayMs * 2 ** (count - freeAttempts - 1), longestDelayMs);

/** Decides whether an attempt is judged; `wrong` is what is known of the address if it is wrong. */
export function decideAttempt(
  before: WrongAttempts | undefined,
  now: number,
): { kind: 'wait'; waitMs: number } | { kind: 'judge'; wrong: WrongAttempts } {
  const known = before && now - before.at < forgottenAfterMs ? before : { count: 0, at: now };
  const waitMs = known.at + delayAfter(known.count) - now;
  return waitMs > 0 ? { kind: 'wait', waitMs } : { kind: 'judge', wrong: { count: known.count + 1, at: now } };
}

/** The most addresses that are remembered; of more, the ones whose last wrong attempt is the oldest are forgotten. */
const mostAddresses = 10_000;

/** Slows down addresses that send wrong keys. */
export function createAttempts(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const known = new Map<string, WrongAttempts>();

  function remember(address: string, attempts: WrongAttempts): void {
    known.delete(address);
    known.set(address, attempts);
    for (const [oldest] of known) if (known.size > mostAddresses) known.delete(oldest);
  }

  return {
    /**
     * Judges an attempt of an address. It counts as wrong from its start, so that attempts at the same time are slowed
     * down as well; a right one resets the count.
     *
     * @returns the value of `judge`, undefined for a wrong attempt; or how long to wait.
     */
    async attempt<T>(
      address: string,
      judge: () => Promise<T | undefined>,
    ): Promise<{ waitMs: number; value?: never } | { value: T | undefined; waitMs?: number }> {
      const before = known.get(address);
      const decided = decideAttempt(before, steadyNow(clock));
      if (decided.kind === 'wait') return { waitMs: decided.waitMs };
      remember(address, decided.wrong);
      try {
        const value = await judge();
        if (value === undefined) return { value, waitMs: delayAfter(decided.wrong.count) };
        known.delete(address);
        return { value };
      } catch (error) {
        // The service failed, not the caller.
        if (before) known.set(address, before);
        else known.delete(address);
        throw error;
      }
    },
  };
}
