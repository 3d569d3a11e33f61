import { setBackMs, backoffMs } from '../../src/kit/clock.ts';

/** GitHub's secondary limits of one installation, besides its requests per hour. */
export interface RateLimits {
  /** The interval between two writes (ms). */
  betweenWritesMs: number;
  /** The maximum number of requests that create something. */
  maxCreatedPerMinute: number;
  maxCreatedPerHour: number;
}

/** One write a second, and at most 80 new things a minute and 500 an hour. */
export const githubRateLimits: RateLimits = { betweenWritesMs: 1000, maxCreatedPerMinute: 80, maxCreatedPerHour: 500 };

/** How a request counts: a read is free, `change` is a write, and `make` also counts as a creation. */
export type RequestKind = 'read' | 'change' | 'make';

/**
 * For whom a request is sent: people of the repository, or strangers, who send pull requests. Strangers get half of the
 * creations of an installation, and nothing of the last quarter of its requests, so that they never delay pushes.
 */
export type Requester = 'own' | 'strangers';
const strangersShare = 0.5;
const reservedShare = 0.25;

/** The remaining requests of an installation until the limit resets (ms since the epoch). */
export interface RequestQuota {
  remaining: number;
  limit: number;
  until: number;
}

/** When a request may be sent: at this time, or not before a time that is too late to wait for. */
export type Turn = { kind: 'at'; at: number } | { kind: 'not-before'; at: number; why: string };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Pauses without a time double from one to the next, up to this (ms). */
const maxPauseMs = 15 * minuteMs;

const limitsOfStrangers = ({ betweenWritesMs, maxCreatedPerMinute, maxCreatedPerHour }: RateLimits): RateLimits => ({
  betweenWritesMs,
  maxCreatedPerMinute: Math.ceil(maxCreatedPerMinute * strangersShare),
  maxCreatedPerHour: Math.ceil(maxCreatedPerHour * strangersShare),
});

/** The rate limiter of one installation, in memory. Callers pass the time (ms since the epoch). */
export class RateLimiter {
  readonly #limits: RateLimits;
  /** The time of the last call. */
  #now = 0;
  /** When the next write may be sent. */
  #nextWrite = 0;
  /** The latest time at which a refused caller was scheduled to return. */
  #promised: Record<Requester, number> = { own: 0, strangers: 0 };
  /** The creations of the last hour, oldest first. */
  #created: { at: number; requester: Requester }[] = [];
  #quota: RequestQuota | undefined;
  #paused: { until: number; why: string } | undefined;
  /** The number of consecutive pauses for which GitHub stated no time. */
  #unstatedPauses = 0;

  constructor(limits: RateLimits = githubRateLimits) {
    this.#limits = limits;
  }

  /** Takes a turn, unless it would start later than `maxWaitMs` from now: then the caller can do other work first. */
  turn(kind: RequestKind, now: number, maxWaitMs: number, requester: Requester = 'own'): Turn {
    const refusal = this.refusal(kind, now, maxWaitMs, requester);
    if (refusal) return refusal;
    if (kind === 'read') return { kind: 'at', at: now };
    const at = this.#writeAt(kind, now, requester);
    this.#nextWrite = at + this.#limits.betweenWritesMs;
    if (kind === 'make') this.#created.push({ at, requester });
    return { kind: 'at', at };
  }

  /** Why a turn is refused now. Each refused caller gets a different time, so that they do not all return together. */
  refusal(
    kind: RequestKind,
    now: number,
    maxWaitMs: number,
    requester: Requester = 'own',
  ): Extract<Turn, { kind: 'not-before' }> | undefined {
    this.#adjustToClock(now);
    if (this.#paused && this.#paused.until > now) {
      return { kind: 'not-before', at: this.#paused.until, why: this.#paused.why };
    }
    const quota = this.#quota;
    if (requester === 'strangers' && quota && quota.until > now && quota.remaining < quota.limit * reservedShare) {
      return { kind: 'not-before', at: quota.until, why: 'what is left of its requests is for pushes' };
    }
    const at = kind === 'read' ? now : this.#writeAt(kind, now, requester);
    if (at - now <= maxWaitMs) return undefined;
    const promised = Math.max(at, this.#promised[requester] + this.#limits.betweenWritesMs);
    this.#promised[requester] = promised;
    return { kind: 'not-before', at: promised, why: 'its writes are paced' };
  }

  /** Shifts the stored times if the clock was set back, so that no caller waits for the old time. */
  #adjustToClock(now: number): void {
    const setBackBy = this.#now - now;
    this.#now = now;
    if (setBackBy < setBackMs) return;
    this.#nextWrite -= setBackBy;
    this.#promised = { own: this.#promised.own - setBackBy, strangers: this.#promised.strangers - setBackBy };
    this.#created = this.#created.map(({ at, ...made }) => ({ ...made, at: at - setBackBy }));
    if (this.#quota) this.#quota = { ...this.#quota, until: this.#quota.until - setBackBy };
    if (this.#paused) this.#paused = { ...this.#paused, until: this.#paused.until - setBackBy };
  }

  #writeAt(kind: 'change' | 'make', now: number, requester: Requester): number {
    if (kind === 'change') return Math.max(now, this.#nextWrite);
    this.#created = this.#created.filter(({ at }) => at > now - hourMs);
    const allowedAt = nextCreateAt(this.#created, this.#limits);
    if (requester === 'own') return Math.max(now, this.#nextWrite, allowedAt);
    const ofStrangers = this.#created.filter((made) => made.requester === 'strangers');
    return Math.max(now, this.#nextWrite, allowedAt, nextCreateAt(ofStrangers, limitsOfStrangers(this.#limits)));
  }

  /** Pauses the installation. If GitHub named no time, each consecutive pause is twice as long as the previous one. */
  pause(until: number, now: number, why: string, isStated: boolean): number {
    this.#adjustToClock(now);
    const length = isStated ? until - now : backoffMs(this.#unstatedPauses + 1, until - now, maxPauseMs);
    this.#unstatedPauses = isStated ? 0 : this.#unstatedPauses + 1;
    this.#paused = { until: Math.max(now + length, this.#paused?.until ?? 0), why };
    return this.#paused.until;
  }

  /** Records a successful response and the remaining quota. */
  recordResponse(quota?: RequestQuota): void {
    this.#unstatedPauses = 0;
    this.#quota = quota ?? this.#quota;
  }

  /** Whether its state can be dropped. */
  isIdle(now: number): boolean {
    return (
      (this.#paused?.until ?? 0) <= now && this.#nextWrite <= now && (this.#created.at(-1)?.at ?? 0) <= now - hourMs
    );
  }
}

/** When the next creation is allowed after these, oldest first. */
const nextCreateAt = (
  made: readonly { at: number }[],
  { maxCreatedPerMinute, maxCreatedPerHour }: RateLimits,
): number => Math.max(windowEnd(made, maxCreatedPerMinute, minuteMs), windowEnd(made, maxCreatedPerHour, hourMs));

/** When the oldest of the last `count` creations is `windowMs` old. */
function windowEnd(made: readonly { at: number }[], count: number, windowMs: number): number {
  const oldest = made.at(-count);
  return oldest === undefined ? 0 : oldest.at + windowMs;
}
