import type { Serving } from './serving.ts';

/** A server's response. */
export interface Answer {
  status: number;
  /** The JSON body; undefined if empty. */
  body: unknown;
  headers: Headers;
}

/** Sends a request that our client has no method for, in process or over a socket. */
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

/** Sends requests over a socket. */
export const askAt = (url: string): Ask => asking((path, init) => fetch(`${url}${path}`, init));

/** Sends requests directly to a server's routes, without the network. */
export const askInProcess = ({ fetch: routes }: Pick<Serving, 'fetch'>): Ask =>
  asking((path, init) => routes(new Request(`http://agent.test${path}`, init)));
