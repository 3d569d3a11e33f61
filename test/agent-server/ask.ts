import type { Serving } from './serving.ts';

/** What a server answered. */
export interface Answer {
  status: number;
  /** The JSON of the body; undefined where there is none. */
  body: unknown;
  headers: Headers;
}

/** Asks an agent server, in whichever way it is reached, for what our own client has no words for. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

const asking =
  (send: (path: string, init: RequestInit) => Response | Promise<Response>): Ask =>
  async (method, path, body) => {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await send(path, { method, ...json });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
  };

/** Asks over a socket, at an address. */
export const askAt = (url: string): Ask => asking((path, init) => fetch(`${url}${path}`, init));

/** The two ways every promise is tried: the routes as they are, and over a socket. */
export const askBothWays: [name: string, open: (serving: Serving) => Ask][] = [
  ['in process', (serving) => asking((path, init) => serving.fetch(new Request(`http://agent.test${path}`, init)))],
  ['over HTTP', ({ url }) => askAt(url)],
];
