import type { MiddlewareHandler } from 'hono';
import type { HttpConfig } from '../../../agent-folder/graph-config/http-config.ts';
import { missing } from '../refusal.ts';

/** The groups of routes that can be disabled and authorized. */
type RouteGroup = 'assistants' | 'threads' | 'runs' | 'store' | 'a2a' | 'mcp' | 'meta' | 'ui';

/** The paths of each group; the first match counts. Crons are future runs, commands start runs, and webhooks are of runs. */
const pathsOfGroups: readonly [group: RouteGroup, path: RegExp][] = [
  ['assistants', /^\/assistants(?:\/|$)/],
  ['runs', /^\/threads?\/[^/]+\/(?:runs|commands|stream\/events)(?:\/|$)/],
  ['threads', /^\/threads?(?:\/|$)/],
  ['runs', /^\/runs(?:\/|$)/],
  ['runs', /^\/webhooks\/deliveries(?:\/|$)/],
  ['store', /^\/store(?:\/|$)/],
  ['a2a', /^\/a2a(?:\/|$)/],
  ['a2a', /^\/\.well-known\/agent(?:-card)?\.json$/],
  ['mcp', /^\/mcp(?:\/|$)/],
  ['ui', /^\/ui\/[^/]+(?:\/entrypoint\.(?:js|css))?$/],
  ['meta', /^\/(?:info|metrics|openapi\.json)$/],
  ['meta', /^\/docs(?:\/|$)/],
];

/** The group of a path; undefined for `/ok` and for routes outside the API. */
export const groupOf = (path: string): RouteGroup | undefined => pathsOfGroups.find(([, its]) => its.test(path))?.[0];

/** Requests from the server to itself. */
const calls = new WeakSet<Request>();

/** Marks a request as internal: disabled routes still serve it. */
export function asOwnCall(request: Request): Request {
  calls.add(request);
  return request;
}

/** Marks a request that stands for another one, if that is internal. */
export function keepOwnCall(from: Request, to: Request): void {
  if (calls.has(from)) calls.add(to);
}

/** Commands and streams of a thread, which start runs and read states. */
const ofThreadStream = /^\/threads?\/[^/]+\/(?:commands|stream\/events)$/;

/** The setting that disables a path; undefined if none does. */
export function disabledBy(http: HttpConfig, path: string): keyof HttpConfig | undefined {
  const group = groupOf(path);
  if (group !== undefined && http[`disable_${group}`] === true) return `disable_${group}`;
  return http.disable_threads === true && ofThreadStream.test(path) ? 'disable_threads' : undefined;
}

/** Returns 404 for disabled routes. */
export function refuseDisabled(http: HttpConfig): MiddlewareHandler {
  return (c, next) => {
    const setting = disabledBy(http, c.req.path);
    if (setting !== undefined && !calls.has(c.req.raw)) {
      throw missing(`${c.req.path} is disabled by http.${setting} of the graph configuration.`);
    }
    // With `disable_meta`, `/ok` reports liveness only.
    if (http.disable_meta === true && c.req.path === '/ok') return Promise.resolve(c.json({ ok: true }));
    return next();
  };
}
