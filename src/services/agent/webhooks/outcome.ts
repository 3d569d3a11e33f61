import { backoffMs } from '../../../kit/clock.ts';

export type AttemptOutcome =
  | { kind: 'taken'; status?: number }
  /** A temporary failure; retried after `afterMs` if the receiver said so. `status`: that of the response, if any. */
  | { kind: 'failed'; why: string; status?: number; afterMs?: number | undefined }
  | { kind: 'refused'; why: string; status?: number };

export type RetryDecision = { kind: 'done' } | { kind: 'again'; inMs: number } | { kind: 'given-up'; why: string };

/** The maximum number of attempts, over about an hour. */
export const maxTries = 14;
/** The delay (ms) after the first failure; it doubles each time. */
const firstWaitMs = 1000;
/** The longest wait (ms), also where the receiver requests a longer one. */
export const maxWaitMs = 15 * 60_000;

/** Interprets a response at `now` (ms since the epoch). Redirects are not followed: they would bypass the URL rules. */
export function toAttemptOutcome(status: number, retryAfter: string | undefined, now: number): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken', status };
  if (status >= 500 || status === 429)
    return { kind: 'failed', status, why: `answered ${status}`, afterMs: waitIn(retryAfter, now) };
  if (status >= 300 && status < 400)
    return { kind: 'refused', status, why: `answered ${status}, and redirects are not followed` };
  return { kind: 'refused', status, why: `answered ${status}` };
}

/** The delay (ms) of a `Retry-After` header: seconds, or a date. */
function waitIn(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Decides what follows attempt number `tries`. `chance` (0 to 1) is the jitter: webhooks do not retry together. */
export function decideRetry(tried: AttemptOutcome, tries: number, chance: number): RetryDecision {
  if (tried.kind === 'taken') return { kind: 'done' };
  if (tried.kind === 'refused') return { kind: 'given-up', why: tried.why };
  if (tries >= maxTries) return { kind: 'given-up', why: `${tried.why}, at the last of ${maxTries} tries` };
  const backoff = backoffMs(tries, firstWaitMs, maxWaitMs) * (0.75 + chance / 2);
  return { kind: 'again', inMs: Math.round(Math.min(maxWaitMs, Math.max(backoff, tried.afterMs ?? 0))) };
}
