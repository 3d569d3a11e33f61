import { isObject } from '../../src/kit/json-object.ts';
import { rateLimitWords, untilNextCount } from '../../src/github/refusal.ts';
import { readRetryAfter } from '../../src/client/attempt-failure.ts';
import { asLine } from '../../src/deploy/words/sanitize.ts';
import { GitHubApiError } from './github-api.ts';
import type { RequestQuota } from './rate-limiter.ts';

/** What a request that failed means for the ones after it. */
export type Failure =
  /** GitHub's rate limit applies until then (ms since the epoch). `stated` is false if GitHub named no time. */
  | { kind: 'paused'; until: number; stated: boolean; why: string }
  | { kind: 'failed'; error: GitHubApiError; /** The same request may be answered later. */ passing: boolean };

/** The request, for the text of an error. */
export interface GitHubRequest {
  /** For example `GET /repos/{owner}/{repo}`. */
  route: string;
  /** What it was about, for example `acme/agents`. */
  about: string;
  writes: boolean;
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

const waitOf = (requested: number): number => Math.min(maxBackoffMs, Math.max(1000, requested));

/**
 * Reads what an Octokit rejected with: a limit of GitHub's, a refusal, a failure, or no answer at all. Of the last two
 * a write may have taken effect. Undefined: no failure of a request, but a mistake of ours.
 */
export function readFailure(error: unknown, requested: GitHubRequest): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const answer = answerOf(error);
  // Octokit sets `status` if it sent the request; our own aborts are an AbortError or a TimeoutError.
  if (!answer && !('status' in error) && error.name !== 'AbortError' && error.name !== 'TimeoutError') return undefined;
  if (answer) {
    const pause = pauseOf(answer, requested.now);
    if (pause) return pause;
  }
  const passing = !answer || answer.status >= 500;
  const effect = passing && requested.writes && !isTokenRequest(error) ? 'unknown' : 'none';
  const how = answer ? `GitHub answered ${answer.status}` : 'GitHub did not answer';
  const message = `${how} to ${requested.route} (${requested.about}): ${asLine(answer?.message ?? error.message, 300)}`;
  return { kind: 'failed', error: new GitHubApiError(message, answer?.status, effect), passing };
}

interface Answer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  message: string;
}

function answerOf(error: Error): Answer | undefined {
  const response: unknown = 'response' in error ? error.response : undefined;
  if (!isObject(response) || typeof response['status'] !== 'number') return undefined;
  const { status, headers, data } = response;
  const message = isObject(data) && typeof data['message'] === 'string' ? data['message'] : error.message;
  return { status, headers: isObject(headers) ? headers : {}, message };
}

function pauseOf({ status, headers, message }: Answer, now: number): Extract<Failure, { kind: 'paused' }> | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const why = asLine(message, 200);
  const requested = readRetryAfter(header(headers, 'retry-after'), header(headers, 'date'), now);
  if (requested !== undefined) return { kind: 'paused', until: now + waitOf(requested), stated: true, why };
  const reset = resetOf(headers, now);
  if (reset !== undefined) return { kind: 'paused', until: reset, stated: true, why };
  const isSecondary = status === 429 || rateLimitWords.test(message);
  return isSecondary ? { kind: 'paused', until: now + unstatedPauseMs, stated: false, why } : undefined;
}

/** What is left of the hourly limit, by our clock; undefined where the response does not say. */
export function quotaOf(headers: Readonly<Record<string, unknown>>, now: number): RequestQuota | undefined {
  const numberOf = (name: string): number => Number(header(headers, name) || Number.NaN);
  const remaining = numberOf('x-ratelimit-remaining');
  const ms = untilNextCount((name) => header(headers, name), now);
  if (!Number.isFinite(remaining) || ms === undefined) return undefined;
  const limit = numberOf('x-ratelimit-limit');
  // Without a limit no share of it is known.
  return { remaining, limit: Number.isFinite(limit) ? limit : 0, until: now + waitOf(ms) };
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
