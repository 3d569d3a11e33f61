import type { Serving } from '../serving.ts';

/** Sends a request to an agent server and returns the raw response, JSON or not. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Response>;

/** Every test runs both ways: in process, and over a socket. */
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
