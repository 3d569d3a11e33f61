import type { Serving } from '../serving.ts';

/** Sends a request to an agent server, and hands on the answer as it comes: also one that is no JSON. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Response>;

/** The two ways every promise is tried: the routes as they are, and over a socket. */
export const sendBothWays: [name: string, open: (serving: Serving) => Send][] = [
  [
    'in process',
    (serving) => async (method, path, body) =>
      serving.fetch(new Request(`http://agent.test${path}`, { method, ...withBody(body) })),
  ],
  [
    'over HTTP',
    ({ url }) =>
      (method, path, body) =>
        fetch(`${url}${path}`, { method, ...withBody(body) }),
  ],
];

const withBody = (body: unknown): RequestInit =>
  body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
