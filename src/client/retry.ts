import type { AttemptFailure } from './attempt-failure.ts';

/** How often and how far apart a request is repeated. */
export interface RetryPolicy {
  /** The most attempts, the first one included. */
  attempts: number;
  /** The longest wait before the second attempt (ms); it doubles with every further one. */
  baseMs: number;
  /** What the wait never exceeds, unless the service asks for more (ms). */
  capMs: number;
}

/** Five attempts within about four seconds of waiting at most, unless the service asks for more. */
export const defaultRetryPolicy: RetryPolicy = { attempts: 5, baseMs: 250, capMs: 8_000 };

/** All that a decision about another attempt is made of. */
export interface RetrySituation {
  /** How many attempts were made: 1 after the first. */
  attempt: number;
  failure: Pick<AttemptFailure, 'effect' | 'passing' | 'retryAfterMs'>;
  /** True for a request that only reads, whatever its method: sending it again changes nothing. */
  safe: boolean;
  now: number;
  /** The moment after which no attempt is begun (ms). */
  deadline: number;
  /** From 0 to 1. */
  random: number;
  policy: RetryPolicy;
}

/** To wait (ms) and send again, or to give up; `why` is told where the failure itself does not say it. */
export type RetryDecision = { kind: 'wait'; ms: number } | { kind: 'give-up'; why?: string };

/**
 * Whether a request is sent again. What reads is repeated when its failure may pass: with full jitter, and not before
 * the moment that `Retry-After` names. What writes is repeated only where it surely did not take effect; a write whose
 * outcome is unknown is never sent again: whoever asked for it has to look.
 */
export function decideRetry(situation: RetrySituation): RetryDecision {
  const { attempt, failure, safe, now, deadline, random, policy } = situation;
  if (!failure.passing) return { kind: 'give-up' };
  if (!safe && failure.effect === 'unknown') return { kind: 'give-up' };
  if (attempt >= policy.attempts) {
    return attempt === 1 ? { kind: 'give-up' } : { kind: 'give-up', why: `after ${attempt} attempts` };
  }
  const jitter = random * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1));
  const requested = failure.retryAfterMs ?? 0;
  const ms = Math.max(requested, jitter);
  if (now + ms < deadline) return { kind: 'wait', ms };
  const left = Math.max(0, deadline - now);
  return requested > left
    ? { kind: 'give-up', why: `it asks to wait ${seconds(requested)}, and there are ${seconds(left)} left` }
    : { kind: 'give-up', why: 'no time is left for another attempt' };
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
