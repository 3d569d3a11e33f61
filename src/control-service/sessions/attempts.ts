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
/** When the count of an address is reset (ms after its last wrong attempt). */
export const resetAfterMs = 15 * 60_000;

/** How long attempts are rejected unchecked after this many wrong ones in a row (ms). */
export const delayAfter = (count: number): number =>
  count <= freeAttempts ? 0 : Math.min(shortestDelayMs * 2 ** (count - freeAttempts - 1), longestDelayMs);

/** Decides whether an attempt is checked now; `wrong` is the record of the address if the attempt is wrong. */
export function decideAttempt(
  before: WrongAttempts | undefined,
  now: number,
): { kind: 'wait'; waitMs: number } | { kind: 'check'; wrong: WrongAttempts } {
  const known = before && now - before.at < resetAfterMs ? before : { count: 0, at: now };
  const waitMs = known.at + delayAfter(known.count) - now;
  return waitMs > 0 ? { kind: 'wait', waitMs } : { kind: 'check', wrong: { count: known.count + 1, at: now } };
}

/** The most addresses that are kept; those whose last wrong attempt is the oldest are dropped. */
const mostAddresses = 10_000;

/** The value of a right attempt, or how long the address has to wait (ms). */
type AttemptResult<T> = { kind: 'right'; value: T } | { kind: 'wrong'; waitMs: number };

/** Throttles addresses that send wrong keys. */
export function createAttemptThrottle(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const known = new Map<string, WrongAttempts>();
  /** The last attempt of each address that has any at the moment. */
  const turns = new Map<string, Promise<void>>();

  async function decideAndCheck<T>(address: string, check: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
    const decided = decideAttempt(known.get(address), steadyNow(clock));
    if (decided.kind === 'wait') return { kind: 'wrong', waitMs: decided.waitMs };
    const value = await check();
    known.delete(address);
    if (value !== undefined) return { kind: 'right', value };
    known.set(address, decided.wrong);
    for (const [oldest] of known) if (known.size > mostAddresses) known.delete(oldest);
    return { kind: 'wrong', waitMs: delayAfter(decided.wrong.count) };
  }

  return {
    /**
     * Checks an attempt. Attempts of one address are checked one after another, so that parallel ones are throttled too.
     * A right one resets the count; one that throws does not count.
     *
     * @param check returns undefined for a wrong attempt.
     */
    attempt<T>(address: string, check: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
      const attempted = (turns.get(address) ?? Promise.resolve()).then(() => decideAndCheck(address, check));
      const end = (): void => {
        if (turns.get(address) === turn) turns.delete(address);
      };
      const turn: Promise<void> = attempted.then(end, end);
      turns.set(address, turn);
      return attempted;
    },
  };
}
