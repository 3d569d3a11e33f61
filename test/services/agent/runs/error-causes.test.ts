import { expect, test } from 'vitest';
import { describeError } from '../../../../src/services/agent/runs/run-error.ts';

class RateLimitError extends Error {}
const limited = (facts: object) =>
  Object.defineProperties(new RateLimitError('slow down'), Object.getOwnPropertyDescriptors(facts));
const date = 'Sun, 29 Nov 2026 00:00:00 GMT';

test.each([
  ['a status', { status: 429 }, { status: 429 }],
  ['a status code', { statusCode: 503 }, { status: 503 }],
  ['the status of a response', { response: { status: 529 } }, { status: 529 }],
  ['the status in metadata', { $metadata: { httpStatusCode: 429 } }, { status: 429 }],
  [
    'seconds in a Headers object',
    { status: 429, headers: new Headers({ 'Retry-After': '20' }) },
    { status: 429, retry_after_ms: 20_000 },
  ],
  ['seconds in a plain object', { headers: { 'Retry-After': '1.5' } }, { retry_after_ms: 1_500 }],
  ['a number of seconds', { responseHeaders: { 'retry-after': 3 } }, { retry_after_ms: 3_000 }],
  ['milliseconds first', { headers: { 'retry-after': '9', 'retry-after-ms': '250' } }, { retry_after_ms: 250 }],
  [
    'a date after the one of the response',
    { response: { status: 503, headers: { date, 'retry-after': 'Sun, 29 Nov 2026 00:00:07 GMT' } } },
    { status: 503, retry_after_ms: 7_000 },
  ],
  ['no longer than a day', { headers: { 'retry-after': '99999999' } }, { retry_after_ms: 86_400_000 }],
])('an error has a fact of its answer: %s', (_, facts, known) => {
  expect(describeError(limited(facts)).causes).toEqual([{ error: 'RateLimitError', ...known }]);
});

test.each([
  ['a word as status', { status: 'failed' }],
  ['no status of HTTP', { status: 7 }],
  ['a date alone', { headers: { 'retry-after': date } }],
  ['a waiting time in words', { headers: { 'retry-after': 'soon' } }],
  ['a field of headers that is none', { headers: 'retry-after: 5' }],
  ['headers that refuse to be read', { headers: new Proxy(new Headers(), {}) }],
  ['a response that is not there yet', lateResponse()],
  ['nothing', {}],
])('an error without a cause has no facts for %s', (_, facts) => {
  expect(describeError(limited(facts))).toEqual({ error: 'RateLimitError', message: 'slow down' });
});

test('an error has the facts of what caused it, and of each attempt', () => {
  const overloaded = Object.assign(new Error('overloaded'), { status: 529 });
  const retried = Object.assign(new Error('3 attempts'), {
    errors: [limited({ status: 429 }), overloaded],
    lastError: overloaded,
  });
  expect(describeError(new TypeError('no answer', { cause: retried })).causes).toEqual([
    { error: 'Error' },
    { error: 'RateLimitError', status: 429 },
    { error: 'Error', status: 529 },
  ]);
});

test('a plain object that caused an error tells its status', () => {
  const thrown = new Error('no answer', { cause: { status: 503, body: 'secret' } });
  expect(describeError(thrown)).toEqual({
    error: 'Error',
    message: 'no answer',
    causes: [{ error: 'Error', status: 503 }],
  });
});

function lateResponse(): object {
  return {
    get response(): never {
      throw new Error('There is no response yet.');
    },
  };
}
