import { steadyNow, type Clock } from '../../../kit/clock.ts';
import { isIP } from 'node:net';

/** The number of wrong keys and codes from one address, and the time of the last (ms of a monotonic clock). */
export interface WrongAttempts {
  count: number;
  at: number;
}

/** How many wrong attempts cause no delay, and the bounds of the delay after further ones (ms). */
const freeAttempts = 4;
const minDelayMs = 1_000;
const maxDelayMs = 60_000;
/** How long (ms) after its last wrong attempt the count of an address is reset. */
export const resetAfterMs = 15 * 60_000;

/** How long (ms) an address has to wait after this many wrong attempts in a row. */
export const delayAfter = (count: number): number =>
  count <= freeAttempts ? 0 : Math.min(minDelayMs * 2 ** (count - freeAttempts - 1), maxDelayMs);

/** Decides how long an address has to wait after a wrong attempt (ms), and its record from now on. */
export function decideWrongAttempt(
  before: WrongAttempts | undefined,
  now: number,
): { waitMs: number; wrong: WrongAttempts } {
  const recent = before && now - before.at < resetAfterMs ? before : { count: 0, at: now };
  const remainingMs = recent.at + delayAfter(recent.count) - now;
  if (remainingMs > 0) return { waitMs: remainingMs, wrong: recent };
  const count = recent.count + 1;
  return { waitMs: delayAfter(count), wrong: { count, at: now } };
}

/** The most addresses that are remembered; beyond it, the ones with the oldest attempts are dropped. */
const maxAddresses = 10_000;

/** The value of a right attempt, or how long the address has to wait (ms). */
type AttemptResult<T> = { kind: 'right'; value: T } | { kind: 'wrong'; waitMs: number };

/**
 * Counts wrong keys by address. Every attempt is checked at once, and a valid key always succeeds, so that wrong keys
 * from an address, real or forged, lock out no one. Keys have too many random bits to be guessed.
 */
export function createAttemptThrottle(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const wrongAttempts = new Map<string, WrongAttempts>();
  return {
    /** Checks an attempt. A right one resets the count; one that throws does not count. */
    async attempt<T>(address: string, check: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
      const value = await check();
      const before = wrongAttempts.get(address);
      wrongAttempts.delete(address);
      if (value !== undefined) return { kind: 'right', value };
      const { waitMs, wrong } = decideWrongAttempt(before, steadyNow(clock));
      wrongAttempts.set(address, wrong);
      for (const [oldest] of wrongAttempts) if (wrongAttempts.size > maxAddresses) wrongAttempts.delete(oldest);
      return { kind: 'wrong', waitMs };
    },
  };
}

interface CallerSettings {
  /** The address of the other end of the connection. */
  peer: string;
  forwardedFor: string | undefined;
  /** The addresses of the reverse proxies, whose header counts. */
  trustedProxies: readonly string[];
}

/**
 * The address of a caller, for counting its wrong keys. Behind a trusted proxy it is the last one of `X-Forwarded-For`,
 * which the proxy has added: callers can forge the others, and without a proxy all of them.
 */
export function callerAddress({ peer, forwardedFor = '', trustedProxies }: CallerSettings): string {
  if (!trustedProxies.some((proxy) => normalizeAddress(proxy) === normalizeAddress(peer))) return peer;
  const last = forwardedFor.split(',').at(-1)?.trim() ?? '';
  // Some web servers add the port.
  const address = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(last);
  const bare = address?.[1] ?? address?.[2] ?? last;
  return isIP(bare) === 0 ? peer : bare;
}

/** An address in a comparable form: IPv4 instead of IPv4-mapped IPv6, and IPv6 in its shortest form, unless it has a zone. */
function normalizeAddress(address: string): string {
  const mapped = /^::ffff:(?=[\d.]+$)/i;
  const bare = address.replace(mapped, '');
  return isIP(bare) === 6 ? (URL.parse(`http://[${bare}]`)?.hostname ?? bare) : bare;
}
