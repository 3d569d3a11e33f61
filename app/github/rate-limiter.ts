import { setBackMs, backoffMs } from '../../src/clock.ts';

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

/** When the request may go out: at this time, or not before one that is too far to be waited for. */
export type Turn = { kind: 'at'; at: number } | { kind: 'not-before'; at: number; why: string };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Pauses without a time double from one to the next, up to this (ms). */
const longestPauseMs = 15 * minuteMs;

/** The rate limiter of one installation, in memory. Callers pass the time (ms since the epoch). */
export class RateLimiter {
  readonly #limits: RateLimits;
  /** The time of the last call. */
  #now = 0;
  /** When the next write may go out. */
  #nextWrite = 0;
  /** The latest time at which a refused caller was scheduled to return. */
  #promised = 0;
  /** When what was made within the last hour was made, oldest first. */
  #made: number[] = [];
  #paused: { until: number; why: string } | undefined;
  /** Pauses in a row for which GitHub gave no time. */
  #unstatedPauses = 0;

  constructor(limits: RateLimits = githubRateLimits) {
    this.#limits = limits;
  }

  /** Takes a turn, unless it would start later than `maxWaitMs` from now: then the caller can do other work first. */
  turn(kind: RequestKind, now: number, maxWaitMs: number): Turn {
    const refused = this.refusal(kind, now, maxWaitMs);
    if (refused) return refused;
    if (kind === 'read') return { kind: 'at', at: now };
    const at = this.#writeAt(kind, now);
    this.#nextWrite = at + this.#limits.betweenWritesMs;
    if (kind === 'make') this.#made.push(at);
    return { kind: 'at', at };
  }

  /** Why a turn is refused now. Each refused caller gets a different time, so that they do not all return together. */
  refusal(kind: RequestKind, now: number, maxWaitMs: number): Extract<Turn, { kind: 'not-before' }> | undefined {
    this.#follow(now);
    if (this.#paused && this.#paused.until > now) {
      return { kind: 'not-before', at: this.#paused.until, why: this.#paused.why };
    }
    const at = kind === 'read' ? now : this.#writeAt(kind, now);
    if (at - now <= maxWaitMs) return undefined;
    this.#promised = Math.max(at, this.#promised + this.#limits.betweenWritesMs);
    return { kind: 'not-before', at: this.#promised, why: 'its writes are paced' };
  }

  /** Shifts what is remembered when the clock was set back, so that no caller waits for the old time. */
  #follow(now: number): void {
    const back = this.#now - now;
    this.#now = now;
    if (back < setBackMs) return;
    this.#nextWrite -= back;
    this.#promised -= back;
    this.#made = this.#made.map((at) => at - back);
    if (this.#paused) this.#paused = { ...this.#paused, until: this.#paused.until - back };
  }

  #writeAt(kind: 'change' | 'make', now: number): number {
    return Math.max(now, this.#nextWrite, kind === 'make' ? this.#mayMakeAt(now) : 0);
  }

  /** Pauses the installation. If GitHub named no time, each consecutive pause is twice as long as the previous one. */
  pause(until: number, now: number, why: string, stated: boolean): number {
    this.#follow(now);
    const length = stated ? until - now : backoffMs(this.#unstatedPauses + 1, until - now, longestPauseMs);
    this.#unstatedPauses = stated ? 0 : this.#unstatedPauses + 1;
    this.#paused = { until: Math.max(now + length, this.#paused?.until ?? 0), why };
    return this.#paused.until;
  }

  /** A request was answered as it should be. */
  answered(): void {
    this.#unstatedPauses = 0;
  }

  /** Whether its state can be dropped. */
  isIdle(now: number): boolean {
    return (this.#paused?.until ?? 0) <= now && this.#nextWrite <= now && (this.#made.at(-1) ?? 0) <= now - hourMs;
  }

  #mayMakeAt(now: number): number {
    this.#made = this.#made.filter((at) => at > now - hourMs);
    const { madeInMinute, madeInHour } = this.#limits;
    return Math.max(this.#after(madeInMinute, minuteMs), this.#after(madeInHour, hourMs));
  }

  /** When the oldest of the last `count` things is `windowMs` old. */
  #after(count: number, windowMs: number): number {
    const oldest = this.#made.at(-count);
    return oldest === undefined ? 0 : oldest + windowMs;
  }
}
