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

/** Decides whether an attempt is judged now; `wrong` is what is known of the address if it is wrong. */
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

/** What a right attempt returned; or how long the address waits from now on (ms), 0 for not at all. */
type AttemptResult<T> = { kind: 'right'; value: T } | { kind: 'wrong'; waitMs: number };

/** Slows down addresses that send wrong keys. */
export function createAttempts(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const known = new Map<string, WrongAttempts>();
  /** The last attempt of each address that has any at the moment. */
  const turns = new Map<string, Promise<void>>();

  async function decideAndJudge<T>(address: string, judge: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
    const decided = decideAttempt(known.get(address), steadyNow(clock));
    if (decided.kind === 'wait') return { kind: 'wrong', waitMs: decided.waitMs };
    const value = await judge();
    known.delete(address);
    if (value !== undefined) return { kind: 'right', value };
    known.set(address, decided.wrong);
    for (const [oldest] of known) if (known.size > mostAddresses) known.delete(oldest);
    return { kind: 'wrong', waitMs: delayAfter(decided.wrong.count) };
  }

  return {
    /**
     * Judges an attempt of an address, one after another: many at the same time are slowed down as well. A right one
     * resets the count; one that throws does not count.
     *
     * @param judge returns undefined for a wrong attempt.
     */
    attempt<T>(address: string, judge: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
      const attempted = (turns.get(address) ?? Promise.resolve()).then(() => decideAndJudge(address, judge));
      const end = (): void => {
        if (turns.get(address) === turn) turns.delete(address);
      };
      const turn: Promise<void> = attempted.then(end, end);
      turns.set(address, turn);
      return attempted;
    },
  };
}
