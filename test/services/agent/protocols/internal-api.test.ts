import { expect, test } from 'vitest';
import { createInternalApi } from '../../../../src/services/agent/protocols/internal-api.ts';

const asked = (response: Response) => createInternalApi(() => response, new Headers()).ask('GET', '/info');

test.each([
  ['a refusal with its reason', Response.json({ detail: 'No.' }, { status: 403 }), 403, 'No.'],
  [
    'a refusal of several fields',
    Response.json({ detail: [{ loc: ['body', 'a'], msg: 'missing' }] }, { status: 422 }),
    422,
    'body.a: missing',
  ],
  ['a refusal without a reason', new Response(null, { status: 404 }), 404, 'The request was refused.'],
  [
    'a redirect of the agent’s own middleware',
    new Response(null, { status: 302, headers: { location: '/login' } }),
    500,
    "The agent's own middleware answered GET /info with 302. It must pass on the server's own paths.",
  ],
])('throws %s', async (_, response, status, message) =>
  expect(asked(response)).rejects.toMatchObject({ status, message }),
);
