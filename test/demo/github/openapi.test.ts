import { describe, expect, test } from 'vitest';
import type { ApiResponse, ApiCall, Exchange } from '../../../src/demo/github/exchange.ts';
import { routeOf } from '../../../src/demo/github/server.ts';
import { problemsOf } from './openapi.ts';

const run = { method: 'POST', path: '/repos/acme/agents/check-runs' };
const status = { method: 'POST', path: '/repos/acme/agents/deployments/1/statuses' };
const list = { method: 'GET', path: '/repos/acme/agents/deployments' };

/** A request as the gateway reads it. */
function exchange(
  { method, path }: { method: string; path: string },
  { body, query = {} }: { body?: Record<string, unknown>; query?: Record<string, string> },
  answer: ApiResponse,
): Exchange {
  const { template = path, params = {} } = routeOf(method, path) ?? {};
  const rawBody = body === undefined ? '' : JSON.stringify(body);
  const call: ApiCall = {
    method,
    path,
    template,
    params,
    query: new URLSearchParams(query),
    headers: {},
    rawBody,
    body: body ?? {},
    caller: { kind: 'anonymous' },
  };
  return { call, answer };
}

const refused: ApiResponse = {
  status: 422,
  body: { message: 'no', documentation_url: 'https://docs.github.com/rest' },
};

describe("validation against GitHub's OpenAPI document finds", () => {
  test.each<[string, Parameters<typeof exchange>, RegExp]>([
    ['nothing in a request as it should be', [status, { body: { state: 'success', description: 'd' } }, refused], /^$/],
    ['a field that is missing', [run, { body: { head_sha: 'a' } }, refused], /body #: .*"name"/],
    ['a value that is none of those allowed', [status, { body: { state: 'fine' } }, refused], /body #\/state/],
    ['a field of another type', [run, { body: { name: 'n', head_sha: 7 } }, refused], /body #\/head_sha/],
    ['an unknown field', [status, { body: { state: 'error', reason: 'r' } }, refused], /unknown field reason/],
    [
      'an unknown query parameter',
      [list, { query: { enviroment: 'x' } }, { status: 404, body: { message: 'no' } }],
      /enviroment/,
    ],
    [
      'a text that is too long',
      [run, { body: { name: 'n', head_sha: 'a', output: { title: 't', summary: 'x'.repeat(65_536) } } }, refused],
      /summary/,
    ],
    [
      'a completed run without its conclusion',
      [run, { body: { name: 'n', head_sha: 'a', status: 'completed' } }, refused],
      /without its conclusion/,
    ],
    [
      'an operation that was not taken',
      [{ method: 'DELETE', path: '/repos/acme/agents' }, {}, { status: 204 }],
      /none of the operations/,
    ],
    ['an answer without what it has to hold', [list, {}, { status: 200, body: [{ id: 1 }] }], /answer 200 #\/0/],
    ['an answer of another shape', [list, {}, { status: 200, body: {} }], /answer 200 #/],
    ['a status that is none of the answers', [list, {}, { status: 201, body: [] }], /no answer 201/],
    ['a refusal that says nothing', [list, {}, { status: 403, body: {} }], /answer 403 #: .*"message"/],
    ['an answer that has gone missing', [list, {}, { status: 200 }], /answer 200 has no body/],
  ])('%s', (_, [operation, sent, answer], problem) => {
    const found = problemsOf(exchange(operation, sent, answer));
    expect(found.join('\n')).toMatch(problem);
  });
});

test.each(['/app', '/repos/a/b/contents/c/d', '/repos/a/b/compare/x...y/z', '/repos/a/b/commits/x/y/check-runs'])(
  'the document knows %s under the name that the gateway gives it',
  (path) => {
    const answer = { status: 404, body: { message: 'no' } };
    expect(problemsOf(exchange({ method: 'GET', path }, {}, answer))).toEqual([]);
  },
);
