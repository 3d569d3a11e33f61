import { backoffMs } from '../kit/clock.ts';
import type { AttemptFailure } from './attempt-failure.ts';

/** How often and with which delays to retry. */
export interface RetryPolicy {
  /** The maximum number of attempts, including the first one. */
  attempts: number;
  /** The longest delay before the second attempt (ms); it doubles for each further one. */
  baseMs: number;
  /** The longest delay (ms), unless the service requests a longer one. */
  capMs: number;
}

/** Five attempts within about four seconds, unless the service requests longer delays. */
export const defaultRetryPolicy: RetryPolicy = { attempts: 5, baseMs: 250, capMs: 8_000 };

/** The input of a retry decision. */
export interface RetrySituation {
  attempt: number;
  failure: Pick<AttemptFailure, 'effect' | 'isTransient' | 'retryAfterMs'>;
  /** Whether the request only reads, so that a retry is safe. */
  safe: boolean;
  now: number;
  /** The time after which no attempt starts (ms). */
  deadline: number;
  /** From 0 to 1. */
  random: number;
  policy: RetryPolicy;
}

/** To retry after a delay (ms), or to give up; `why` is set if the failure does not explain it. */
export type RetryDecision = { kind: 'wait'; ms: number } | { kind: 'give-up'; remark?: string };

/**
 * Decides whether to retry. Reads are retried for transient failures, with full jitter, and not before the time of
 * `Retry-After`. Writes are retried only if they surely had no effect; with an unknown outcome, the caller must check.
 */
export function decideRetry(situation: RetrySituation): RetryDecision {
  const { attempt, failure, safe, now, deadline, random, policy } = situation;
  if (!failure.isTransient) return { kind: 'give-up' };
  if (!safe && failure.effect === 'unknown') return { kind: 'give-up' };
  if (attempt >= policy.attempts) {
    return attempt === 1 ? { kind: 'give-up' } : { kind: 'give-up', remark: `after ${attempt} attempts` };
  }
  const jitter = random * backoffMs(attempt, policy.baseMs, policy.capMs);
  const requested = failure.retryAfterMs ?? 0;
  const ms = Math.max(requested, jitter);
  if (now + ms < deadline) return { kind: 'wait', ms };
  const remainingMs = Math.max(0, deadline - now);
  return requested > remainingMs
    ? {
        kind: 'give-up',
        remark: `the service requested a delay of ${seconds(requested)}, and ${seconds(remainingMs)} are left`,
      }
    : { kind: 'give-up', remark: 'no time is left for another attempt' };
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
