import { isObject } from '../../src/kit/json-object.ts';
import { rateLimitWords, untilNextCount } from '../../src/github/refusal.ts';
import { readRetryAfter } from '../../src/client/attempt-failure.ts';
import { asLine } from '../../src/deploy/words/sanitize.ts';
import { GitHubApiError } from './github-api.ts';
import type { RequestQuota } from './rate-limiter.ts';

/** Classifies a failed request. */
export type Failure =
  /** GitHub's rate limit applies until this time (ms since the epoch). `isStated` is false if GitHub named none. */
  | { kind: 'paused'; until: number; isStated: boolean; why: string }
  | { kind: 'failed'; error: GitHubApiError; /** The same request may be answered later. */ isTransient: boolean };

/** The request, for the text of an error. */
export interface GitHubRequest {
  /** For example `GET /repos/{owner}/{repo}`. */
  route: string;
  /** The repository, for example `acme/agents`. */
  subject: string;
  isWrite: boolean;
  /** ms since the epoch */
  now: number;
}

/** GitHub's advice for a secondary limit without a time (ms). */
const unstatedPauseMs = 60_000;

/**
 * The longest single wait (ms), whatever GitHub states: its limits reset every hour. A longer limit is stated again
 * then, and a wrong time does not stop an installation for good.
 */
const maxBackoffMs = 60 * 60_000;

const boundedWait = (requested: number): number => Math.min(maxBackoffMs, Math.max(1000, requested));

/**
 * Reads an Octokit's error: a rate limit, a refusal, a failure, or no response. After the last two, a write may have
 * taken effect. Undefined if the error is not that of a request, but a bug.
 */
export function readFailure(error: unknown, requested: GitHubRequest): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const response = responseOf(error);
  // Octokit sets `status` if it sent the request; our own aborts are an AbortError or a TimeoutError.
  if (!response && !('status' in error) && error.name !== 'AbortError' && error.name !== 'TimeoutError')
    return undefined;
  if (response) {
    const pause = pauseOf(response, requested.now);
    if (pause) return pause;
  }
  const isTransient = !response || response.status >= 500;
  const effect = isTransient && requested.isWrite && !isTokenRequest(error) ? 'unknown' : 'none';
  const how = response ? `GitHub answered ${response.status}` : 'GitHub did not answer';
  const message = `${how} to ${requested.route} (${requested.subject}): ${asLine(response?.message ?? error.message, 300)}`;
  return { kind: 'failed', error: new GitHubApiError(message, response?.status, effect), isTransient };
}

interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  message: string;
}

function responseOf(error: Error): ErrorResponse | undefined {
  const response: unknown = 'response' in error ? error.response : undefined;
  if (!isObject(response) || typeof response['status'] !== 'number') return undefined;
  const { status, headers, data } = response;
  const message = isObject(data) && typeof data['message'] === 'string' ? data['message'] : error.message;
  return { status, headers: isObject(headers) ? headers : {}, message };
}

function pauseOf(
  { status, headers, message }: ErrorResponse,
  now: number,
): Extract<Failure, { kind: 'paused' }> | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const why = asLine(message, 200);
  const requested = readRetryAfter(header(headers, 'retry-after'), header(headers, 'date'), now);
  if (requested !== undefined) return { kind: 'paused', until: now + boundedWait(requested), isStated: true, why };
  const reset = resetOf(headers, now);
  if (reset !== undefined) return { kind: 'paused', until: reset, isStated: true, why };
  const isSecondary = status === 429 || rateLimitWords.test(message);
  return isSecondary ? { kind: 'paused', until: now + unstatedPauseMs, isStated: false, why } : undefined;
}

/** The rest of the hourly limit, by our clock; undefined if the response does not state it. */
export function quotaOf(headers: Readonly<Record<string, unknown>>, now: number): RequestQuota | undefined {
  const numberOf = (name: string): number => Number(header(headers, name) || Number.NaN);
  const remaining = numberOf('x-ratelimit-remaining');
  const ms = untilNextCount((name) => header(headers, name), now);
  if (!Number.isFinite(remaining) || ms === undefined) return undefined;
  const limit = numberOf('x-ratelimit-limit');
  // 0 if GitHub states no limit.
  return { remaining, limit: Number.isFinite(limit) ? limit : 0, until: now + boundedWait(ms) };
}

/** When the hourly limit resets (ms since the epoch by our clock), if it is used up; undefined otherwise. */
function resetOf(headers: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const quota = quotaOf(headers, now);
  return quota?.remaining === 0 ? quota.until : undefined;
}

/** The token is requested before the request itself: if that fails, nothing was written. */
function isTokenRequest(error: Error): boolean {
  const request: unknown = 'request' in error ? error.request : undefined;
  return isObject(request) && typeof request['url'] === 'string' && request['url'].endsWith('/access_tokens');
}

function header(headers: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Returns undefined for 404: what does not exist, or is not visible. Rethrows any other failure. */
export async function unlessMissing<Value>(requested: Promise<Value>): Promise<Value | undefined> {
  try {
    return await requested;
  } catch (error) {
    if (error instanceof GitHubApiError && error.status === 404) return undefined;
    throw error;
  }
}
