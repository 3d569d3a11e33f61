import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';

/** What answers requests, and below which path. */
export interface ServerSettings {
  /** The service's own routes. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** Takes a request that is for an agent, whose path is given without `basePath`; `false` leaves it to the service's own routes. */
  agents: (request: IncomingMessage, response: ServerResponse, basePath: string) => boolean;
  /** The path that everything hangs below, as in `/api-host`; empty for none. */
  basePath: string;
}

/** How long a request may take to come in (ms): as long as the address of an upload serves, for a slow line needs it. */
export const requestWithin = 15 * 60_000;

/** The one server of the control service: agents below `/agents/`, the service's own routes everywhere else. */
export function createHttpServer({ fetch, agents, basePath }: ServerSettings): Server {
  const own = getRequestListener(fetch, { overrideGlobalObjects: false });
  return createServer({ requestTimeout: requestWithin }, (request, response) => {
    const path = below(basePath, request.url ?? '/');
    if (path === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: `Not Found: everything of this service is below ${basePath}.` }));
      return;
    }
    request.url = path;
    if (!agents(request, response, basePath)) void own(request, response);
  });
}

/** What stands behind the base path; undefined for a path that is not below it. */
export function below(basePath: string, url: string): string | undefined {
  if (basePath === '') return url;
  if (!url.startsWith(basePath)) return undefined;
  const rest = url.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : undefined;
}
