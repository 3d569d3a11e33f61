import { describe, expect, test } from 'vitest';
import { readFailure } from '../../../app/github/failure.ts';

const now = Date.parse('2026-01-05T08:00:00Z');
const requested = {
  route: 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
  subject: 'acme/agents',
  isWrite: true,
  now,
};

/** What an Octokit rejects with. */
function rejected(
  status: number,
  headers: Record<string, string> | undefined,
  message = 'no',
  url = 'https://api.test/x',
) {
  return Object.assign(new Error(message), {
    name: 'HttpError',
    status,
    request: { method: 'POST', url, headers: { authorization: 'token secret-token' } },
    ...(headers ? { response: { status, headers, data: { message } } } : {}),
  });
}

const inSeconds = (seconds: number) => String(Math.floor(now / 1000) + seconds);

describe('a rate limit', () => {
  test.each([
    ['429 with retry-after', 429, { 'retry-after': '42' }, 'slow down', 42, true],
    ['403 with retry-after', 403, { 'retry-after': '7' }, 'You have exceeded a secondary rate limit', 7, true],
    ['a retry-after of nothing still waits a second', 429, { 'retry-after': '0' }, 'x', 1, true],
    [
      'the hour is used up: until it begins anew',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(600) },
      'API rate limit exceeded',
      600,
      true,
    ],
    [
      "by GitHub's clock, where it goes otherwise than ours",
      429,
      {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': inSeconds(600 + 3600),
        date: new Date(now + 3_600_000).toUTCString(),
      },
      'x',
      600,
      true,
    ],
    ['a wait without an end: an hour, then again', 429, { 'retry-after': '9'.repeat(30) }, 'x', 3600, true],
    [
      'an hour that begins anew in a hundred years: an hour',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(3_155_760_000) },
      'x',
      3600,
      true,
    ],
    ['a secondary limit without a time: a minute', 403, {}, 'You have exceeded a secondary rate limit.', 60, false],
    ['an abuse limit without a time: a minute', 403, {}, 'You have triggered an abuse detection mechanism.', 60, false],
    ['429 without a time: a minute', 429, {}, 'x', 60, false],
  ])('%s', (_, status, headers, message, seconds, stated) => {
    expect(readFailure(rejected(status, headers, message), requested)).toMatchObject({
      kind: 'paused',
      until: now + seconds * 1000,
      isStated: stated,
    });
  });
});

describe('a refusal or failure', () => {
  test.each([
    ['403 that is no limit', 403, { 'x-ratelimit-remaining': '4000' }, 'none', false],
    ['404', 404, {}, 'none', false],
    ['409', 409, {}, 'none', false],
    ['422', 422, {}, 'none', false],
    ['401', 401, {}, 'none', false],
    ['500 to a write may have taken effect', 500, {}, 'unknown', true],
    ['502 to a write may have taken effect', 502, {}, 'unknown', true],
    ['no answer to a write may have taken effect', 500, undefined, 'unknown', true],
  ] as const)('%s', (_, status, headers, effect, passing) => {
    expect(readFailure(rejected(status, headers), requested)).toMatchObject({
      kind: 'failed',
      error: { effect, status: headers ? status : undefined },
      isTransient: passing,
    });
  });

  test('a read has no effect', () => {
    expect(readFailure(rejected(502, {}), { ...requested, isWrite: false })).toMatchObject({
      error: { effect: 'none' },
    });
  });

  test('a failed token request means that nothing was written', () => {
    const error = rejected(503, {}, 'down', 'https://api.test/app/installations/7/access_tokens');
    expect(readFailure(error, requested)).toMatchObject({ error: { effect: 'none', status: 503 } });
  });

  test('the message names the request and the response, in one line and without a token', () => {
    const failure = readFailure(rejected(422, {}, 'Invalid\nrequest \u001b[31m'), requested);
    const message = failure?.kind === 'failed' ? failure.error.message : '';
    expect(message).toBe(
      'GitHub answered 422 to PATCH /repos/{owner}/{repo}/check-runs/{check_run_id} (acme/agents): Invalid request',
    );
  });

  test('an internal error is none of these', () => {
    expect(readFailure(new TypeError('x is not a function'), requested)).toBeUndefined();
    expect(readFailure('text', requested)).toBeUndefined();
  });
});
