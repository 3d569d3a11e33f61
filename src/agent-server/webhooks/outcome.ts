/** What one try came to. */
export type Tried =
  | { kind: 'taken' }
  /** It may go better another time, not before `afterMs` where the receiver said so. */
  | { kind: 'failed'; why: string; afterMs?: number | undefined }
  /** It would go no better another time. */
  | { kind: 'refused'; why: string };

/** What becomes of a delivery after a try. */
export type Next = { kind: 'done' } | { kind: 'again'; inMs: number } | { kind: 'given-up'; why: string };

/** How often a webhook is tried, over about an hour. */
export const MOST_TRIES = 14;
/** The wait (ms) after the first failure; it doubles each time. */
const FIRST_WAIT_MS = 1000;
/** The longest wait (ms), also where the receiver asks for a longer one. */
export const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * What a receiver's answer means. A redirect is not followed: it would lead past the rules for URLs.
 *
 * @param retryAfter the header of that name.
 * @param now milliseconds since the epoch.
 */
export function meaningOf(status: number, retryAfter: string | undefined, now: number): Tried {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status >= 500 || status === 429)
    return { kind: 'failed', why: `answered ${status}`, afterMs: waitIn(retryAfter, now) };
  if (status >= 300 && status < 400)
    return { kind: 'refused', why: `answered ${status}, and redirects are not followed` };
  return { kind: 'refused', why: `answered ${status}` };
}

/** The wait (ms) that a `Retry-After` asks for: seconds, or a date. */
function waitIn(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * What becomes of a delivery after its try number `tries`.
 *
 * @param chance between 0 and 1: each wait is a quarter longer or shorter at most, so that what failed together does not
 *   come back together.
 */
export function nextAfter(tried: Tried, tries: number, chance: number): Next {
  if (tried.kind === 'taken') return { kind: 'done' };
  if (tried.kind === 'refused') return { kind: 'given-up', why: tried.why };
  if (tries >= MOST_TRIES) return { kind: 'given-up', why: `${tried.why}, at the last of ${MOST_TRIES} tries` };
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.75 + chance / 2);
  return { kind: 'again', inMs: Math.round(Math.min(LONGEST_WAIT_MS, Math.max(backoff, tried.afterMs ?? 0))) };
}
