import { ServiceError } from '../contract/service-error.ts';
import { statusOf } from './client.ts';

// GitHub answers 403 to a token without a permission, to too many requests, and about what nobody may change: a locked
// conversation, an archived repository, an address that is not on the organisation's list. Its words tell them apart.

const permissionWords = /not accessible by|must have (?:push|write|admin)/i;

/** GitHub's words for its limits on requests. */
export const rateLimitWords = /secondary rate limit|abuse detection|rate limit exceeded/i;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

/** Whether GitHub says that the token lacks a permission. */
export const refusesPermission = (error: unknown): boolean =>
  statusOf(error) === 403 && permissionWords.test(messageOf(error));

/** Whether a permission of the token is missing. Without it a private repository is not to be seen: 404. */
export const lacksPermission = (error: unknown): boolean => statusOf(error) === 404 || refusesPermission(error);

/** GitHub's advice for a limit without a time (ms). */
const unstatedWaitMs = 60_000;

type ReadHeader = (name: string) => string | undefined;

/**
 * How long until GitHub counts an hour's requests anew (ms); undefined where it does not say. The time is read relative
 * to the response's `Date`: our clock may differ.
 */
export function untilNextCount(header: ReadHeader, now: number): number | undefined {
  const reset = Number(header('x-ratelimit-reset') ?? Number.NaN) * 1000;
  if (!Number.isFinite(reset)) return undefined;
  const theirNow = Date.parse(header('date') ?? '');
  return reset - (Number.isNaN(theirNow) ? now : theirNow);
}

/** How long GitHub's hourly limit lasts (ms), where it is used up; undefined otherwise. */
export const untilReset = (header: ReadHeader, now: number): number | undefined =>
  header('x-ratelimit-remaining') === '0' ? untilNextCount(header, now) : undefined;

/** How long to wait after too many requests (ms); undefined for any other failure. */
export function rateLimitWaitOf(error: unknown): number | undefined {
  const status = statusOf(error);
  const isLimit = status === 429 || (status === 403 && rateLimitWords.test(messageOf(error)));
  if (!isLimit) return undefined;
  return (error instanceof ServiceError ? error.retryAfterMs : undefined) ?? unstatedWaitMs;
}
