import { ServiceError } from '../contract/service-error.ts';
import { statusOf } from './client.ts';

// GitHub returns 403 for a missing permission, for too many requests, and for what nobody may change: a locked
// conversation, an archived repository, an address outside of the organisation's list. Only the message tells them
// apart.

const permissionWords = /not accessible by|must have (?:push|write|admin)/i;

/** GitHub's messages about rate limits. */
export const rateLimitWords = /secondary rate limit|abuse detection|rate limit exceeded/i;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

/** Whether GitHub says that the token lacks a permission. */
export const refusesPermission = (error: unknown): boolean =>
  statusOf(error) === 403 && permissionWords.test(messageOf(error));

/** Whether the token lacks a permission. Without one, GitHub returns 404 for a private repository. */
export const lacksPermission = (error: unknown): boolean => statusOf(error) === 404 || refusesPermission(error);

/** How long to wait if GitHub states no time, as its documentation advises (ms). */
const unstatedWaitMs = 60_000;

type ReadHeader = (name: string) => string | undefined;

/**
 * How long until GitHub's hourly rate limit resets (ms); undefined if unknown. The time is relative to the response's
 * `Date`, because our clock may differ.
 */
export function untilNextCount(header: ReadHeader, now: number): number | undefined {
  const reset = Number(header('x-ratelimit-reset') ?? Number.NaN) * 1000;
  if (!Number.isFinite(reset)) return undefined;
  const theirNow = Date.parse(header('date') ?? '');
  return reset - (Number.isNaN(theirNow) ? now : theirNow);
}

/** How long until the hourly rate limit resets (ms), if it is used up; undefined otherwise. */
export const untilReset = (header: ReadHeader, now: number): number | undefined =>
  header('x-ratelimit-remaining') === '0' ? untilNextCount(header, now) : undefined;

/** How long to wait after too many requests (ms); undefined for any other failure. */
export function rateLimitWaitOf(error: unknown): number | undefined {
  const status = statusOf(error);
  const isLimit = status === 429 || (status === 403 && rateLimitWords.test(messageOf(error)));
  if (!isLimit) return undefined;
  return (error instanceof ServiceError ? error.retryAfterMs : undefined) ?? unstatedWaitMs;
}
