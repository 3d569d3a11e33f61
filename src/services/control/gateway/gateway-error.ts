import { STATUS_CODES, type ServerResponse } from 'node:http';

/** A response of the gateway itself when no agent can respond. */
export interface GatewayError {
  status: 400 | 401 | 403 | 404 | 502 | 503 | 504;
  detail: string;
  retryAfter?: number;
}

export const gatewayErrors = {
  keyInPath: {
    status: 400,
    detail: 'The path or the query of this request contains an API key. Send it only in the header X-Api-Key.',
  },
  missing: { status: 404, detail: 'No deployment has this id. Check the address of the agent.' },
  notLive: {
    status: 503,
    detail:
      'No revision of this deployment is live at the moment. Ask the control service for the status of its revisions, and try again.',
    retryAfter: 5,
  },
  notHeld: {
    status: 404,
    detail:
      'No revision is held at this address at the moment. Read the revision: its hold is not yet there, or was decided.',
  },
  starting: {
    status: 503,
    detail:
      "This deployment's agent is being started, which takes some seconds. Try again; its deploy log says why where it takes longer.",
    retryAfter: 2,
  },
  scaledToZero: {
    status: 503,
    detail:
      "This deployment's agent was stopped because nobody used it. A request without X-Landfall-Background starts it again.",
    retryAfter: 30,
  },
  noUiFile: {
    status: 404,
    detail: 'The agent has no such file of a UI. Check the name of the UI in its configuration.',
  },
  notAPage: {
    status: 403,
    detail: 'Nothing of an agent is shown as a page here. Load the file by a tag of a page, or send a key.',
  },
  notOfConsole: {
    status: 403,
    detail:
      'This token is for pages of the console at the own address of agents. Check that the web server in front passes on Host as the browser sent it, or send an API key.',
  },
  unchecked: { status: 503, detail: 'The key could not be checked at the moment. Try again.', retryAfter: 2 },
  broken: {
    status: 502,
    detail: "The agent's process broke off before it answered. Its deploy log says more.",
  },
  late: {
    status: 504,
    detail: "The agent's process took the request and did not begin an answer in time. Its deploy log says more.",
  },
} as const satisfies Record<string, GatewayError>;

/** Sends an error, or cuts a response that has started. Pages of any origin may read it: it contains nothing secret. */
export function sendGatewayError(response: ServerResponse, { status, detail, retryAfter }: GatewayError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({ detail });
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  // The body of a refused request may be long and stays unread: close the connection.
  // A failed attempt to write a response has set its own reason phrase.
  response.writeHead(status, STATUS_CODES[status], {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    ...(response.req.headers.origin === undefined
      ? {}
      : { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after' }),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  });
  response.end(body);
}
