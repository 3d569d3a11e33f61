import { setBackMs, backoffMs } from '../../src/kit/clock.ts';

/** GitHub's secondary limits of one installation, besides its requests per hour. */
export interface RateLimits {
  /** Between two writes (ms). */
  betweenWritesMs: number;
  /** Requests that make something: in a minute, and in an hour. */
  madeInMinute: number;
  madeInHour: number;
}

/** One write a second, and at most 80 new things a minute and 500 an hour. */
export const githubRateLimits: RateLimits = { betweenWritesMs: 1000, madeInMinute: 80, madeInHour: 500 };

/** What a request is to the pace: a reading one costs nothing, one that makes something most. */
export type RequestKind = 'read' | 'change' | 'make';

/**
 * Who causes a request. Strangers send pull requests: these make no more than half of what an installation may make,
 * and leave the last quarter of its requests, so that no number of them keeps pushes waiting.
 */
export type RequestCause = 'own' | 'strangers';
const strangersShare = 0.5;
const leftByStrangers = 0.25;

/** What GitHub says is left of the requests of an installation, until it counts anew (ms since the epoch). */
export interface RequestQuota {
  remaining: number;
  limit: number;
  until: number;
}

/** When the request may go out: at this time, or not before one that is too far to be waited for. */
export type Turn = { kind: 'at'; at: number } | { kind: 'not-before'; at: number; why: string };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Pauses without a time double from one to the next, up to this (ms). */
const maxPauseMs = 15 * minuteMs;

const sharesOf = ({ betweenWritesMs, madeInMinute, madeInHour }: RateLimits): RateLimits => ({
  betweenWritesMs,
  madeInMinute: Math.ceil(madeInMinute * strangersShare),
  madeInHour: Math.ceil(madeInHour * strangersShare),
});

/** The rate limiter of one installation, in memory. Callers pass the time (ms since the epoch). */
export class RateLimiter {
  readonly #limits: RateLimits;
  /** The time of the last call. */
  #now = 0;
  /** When the next write may go out. */
  #nextWrite = 0;
  /** The latest time at which a refused caller was scheduled to return. */
  #promised: Record<RequestCause, number> = { own: 0, strangers: 0 };
  /** When what was made within the last hour was made, oldest first. */
  #made: { at: number; cause: RequestCause }[] = [];
  #quota: RequestQuota | undefined;
  #paused: { until: number; why: string } | undefined;
  /** Pauses in a row for which GitHub gave no time. */
  #unstatedPauses = 0;

  constructor(limits: RateLimits = githubRateLimits) {
    this.#limits = limits;
  }

  /** Takes a turn, unless it would start later than `maxWaitMs` from now: then the caller can do other work first. */
  turn(kind: RequestKind, now: number, maxWaitMs: number, cause: RequestCause = 'own'): Turn {
    const refused = this.refusal(kind, now, maxWaitMs, cause);
    if (refused) return refused;
    if (kind === 'read') return { kind: 'at', at: now };
    const at = this.#writeAt(kind, now, cause);
    this.#nextWrite = at + this.#limits.betweenWritesMs;
    if (kind === 'make') this.#made.push({ at, cause });
    return { kind: 'at', at };
  }

  /** Why a turn is refused now. Each refused caller gets a different time, so that they do not all return together. */
  refusal(
    kind: RequestKind,
    now: number,
    maxWaitMs: number,
    cause: RequestCause = 'own',
  ): Extract<Turn, { kind: 'not-before' }> | undefined {
    this.#follow(now);
    if (this.#paused && this.#paused.until > now) {
      return { kind: 'not-before', at: this.#paused.until, why: this.#paused.why };
    }
    const quota = this.#quota;
    if (cause === 'strangers' && quota && quota.until > now && quota.remaining < quota.limit * leftByStrangers) {
      return { kind: 'not-before', at: quota.until, why: 'what is left of its requests is for pushes' };
    }
    const at = kind === 'read' ? now : this.#writeAt(kind, now, cause);
    if (at - now <= maxWaitMs) return undefined;
    const promised = Math.max(at, this.#promised[cause] + this.#limits.betweenWritesMs);
    this.#promised[cause] = promised;
    return { kind: 'not-before', at: promised, why: 'its writes are paced' };
  }

  /** Shifts what is remembered when the clock was set back, so that no caller waits for the old time. */
  #follow(now: number): void {
    const back = this.#now - now;
    this.#now = now;
    if (back < setBackMs) return;
    this.#nextWrite -= back;
    this.#promised = { own: this.#promised.own - back, strangers: this.#promised.strangers - back };
    this.#made = this.#made.map(({ at, ...made }) => ({ ...made, at: at - back }));
    if (this.#quota) this.#quota = { ...this.#quota, until: this.#quota.until - back };
    if (this.#paused) this.#paused = { ...this.#paused, until: this.#paused.until - back };
  }

  #writeAt(kind: 'change' | 'make', now: number, cause: RequestCause): number {
    if (kind === 'change') return Math.max(now, this.#nextWrite);
    this.#made = this.#made.filter(({ at }) => at > now - hourMs);
    const ofAll = mayMakeAt(this.#made, this.#limits);
    if (cause === 'own') return Math.max(now, this.#nextWrite, ofAll);
    const ofStrangers = this.#made.filter((made) => made.cause === 'strangers');
    return Math.max(now, this.#nextWrite, ofAll, mayMakeAt(ofStrangers, sharesOf(this.#limits)));
  }

  /** Pauses the installation. If GitHub named no time, each consecutive pause is twice as long as the previous one. */
  pause(until: number, now: number, why: string, stated: boolean): number {
    this.#follow(now);
    const length = stated ? until - now : backoffMs(this.#unstatedPauses + 1, until - now, maxPauseMs);
    this.#unstatedPauses = stated ? 0 : this.#unstatedPauses + 1;
    this.#paused = { until: Math.max(now + length, this.#paused?.until ?? 0), why };
    return this.#paused.until;
  }

  /** A request was answered as it should be, with what is left. */
  answered(quota?: RequestQuota): void {
    this.#unstatedPauses = 0;
    this.#quota = quota ?? this.#quota;
  }

  /** Whether its state can be dropped. */
  isIdle(now: number): boolean {
    return (this.#paused?.until ?? 0) <= now && this.#nextWrite <= now && (this.#made.at(-1)?.at ?? 0) <= now - hourMs;
  }
}

/** When another thing may be made after these, oldest first. */
const mayMakeAt = (made: readonly { at: number }[], { madeInMinute, madeInHour }: RateLimits): number =>
  Math.max(after(made, madeInMinute, minuteMs), after(made, madeInHour, hourMs));

/** When the oldest of the last `count` things is `windowMs` old. */
function after(made: readonly { at: number }[], count: number, windowMs: number): number {
  const oldest = made.at(-count);
  return oldest === undefined ? 0 : oldest.at + windowMs;
}
