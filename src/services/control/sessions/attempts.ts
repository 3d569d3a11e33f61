import { steadyNow, type Clock } from '../../../kit/clock.ts';
import { isIP } from 'node:net';

/** The wrong keys and codes of one address, and the time of the last one (ms of a monotonic clock). */
export interface WrongAttempts {
  count: number;
  at: number;
}

/** How many wrong attempts are free, and the bounds of the delay after the others (ms). */
const freeAttempts = 4;
const minDelayMs = 1_000;
const maxDelayMs = 60_000;
/** When the count of an address is reset (ms after its last wrong attempt). */
export const resetAfterMs = 15 * 60_000;

/** How long the address is told to wait after this many wrong ones in a row (ms). */
export const delayAfter = (count: number): number =>
  count <= freeAttempts ? 0 : Math.min(minDelayMs * 2 ** (count - freeAttempts - 1), maxDelayMs);

/** Decides how long an address has to wait after a wrong attempt (ms), and its record from now on. */
export function decideWrongAttempt(
  before: WrongAttempts | undefined,
  now: number,
): { waitMs: number; wrong: WrongAttempts } {
  const known = before && now - before.at < resetAfterMs ? before : { count: 0, at: now };
  const leftMs = known.at + delayAfter(known.count) - now;
  if (leftMs > 0) return { waitMs: leftMs, wrong: known };
  const count = known.count + 1;
  return { waitMs: delayAfter(count), wrong: { count, at: now } };
}

/** The most addresses that are kept; those whose last wrong attempt is the oldest are dropped. */
const maxAddresses = 10_000;

/** The value of a right attempt, or how long the address has to wait (ms). */
type AttemptResult<T> = { kind: 'right'; value: T } | { kind: 'wrong'; waitMs: number };

/**
 * Counts wrong keys by address. Every attempt is checked at once, and a right one always succeeds: whoever sends wrong
 * keys from an address, or in the name of one, locks nobody out. Keys have too many random bits to be guessed at any speed.
 */
export function createAttemptThrottle(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const known = new Map<string, WrongAttempts>();
  return {
    /** Checks an attempt. A right one resets the count; one that throws does not count. */
    async attempt<T>(address: string, check: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
      const value = await check();
      const before = known.get(address);
      known.delete(address);
      if (value !== undefined) return { kind: 'right', value };
      const { waitMs, wrong } = decideWrongAttempt(before, steadyNow(clock));
      known.set(address, wrong);
      for (const [oldest] of known) if (known.size > maxAddresses) known.delete(oldest);
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
 * which the proxy added: the caller can forge the others, and everyone who connects directly all of them.
 */
export function callerAddress({ peer, forwardedFor = '', trustedProxies }: CallerSettings): string {
  if (!trustedProxies.some((proxy) => comparable(proxy) === comparable(peer))) return peer;
  const last = forwardedFor.split(',').at(-1)?.trim() ?? '';
  // Some web servers add the port.
  const address = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(last);
  const bare = address?.[1] ?? address?.[2] ?? last;
  return isIP(bare) === 0 ? peer : bare;
}

/** An IPv4 address as itself, where a socket of both kinds shows it as IPv6; IPv6 in its shortest form, unless it has a zone. */
function comparable(address: string): string {
  const mapped = /^::ffff:(?=[\d.]+$)/i;
  const bare = address.replace(mapped, '');
  return isIP(bare) === 6 ? (URL.parse(`http://[${bare}]`)?.hostname ?? bare) : bare;
}
