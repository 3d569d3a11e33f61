/** Sends a request to an agent server and returns the raw response, JSON or not. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Response>;

/** Sends requests over a socket. */
export const sendTo =
  (url: string): Send =>
  (method, path, body) => {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return fetch(`${url}${path}`, { method, ...json });
  };
