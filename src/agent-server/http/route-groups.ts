import type { MiddlewareHandler } from 'hono';
import type { HttpConfig } from '../../graph-config/http-config.ts';
import { missing } from '../refusal.ts';

/** The groups of routes that can be disabled and authorized. */
type RouteGroup = 'assistants' | 'threads' | 'runs' | 'store' | 'a2a' | 'mcp' | 'meta';

/** The paths of each group; the first match counts. Crons are future runs. */
const pathsOfGroups: readonly [group: RouteGroup, path: RegExp][] = [
  ['assistants', /^\/assistants(?:\/|$)/],
  ['runs', /^\/threads?\/[^/]+\/runs(?:\/|$)/],
  ['threads', /^\/threads?(?:\/|$)/],
  ['runs', /^\/runs(?:\/|$)/],
  ['store', /^\/store(?:\/|$)/],
  ['a2a', /^\/a2a(?:\/|$)/],
  ['a2a', /^\/\.well-known\/agent(?:-card)?\.json$/],
  ['mcp', /^\/mcp(?:\/|$)/],
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

/** Whether `asOwnCall` marked the request. */
const isOwnCall = (request: Request): boolean => calls.has(request);

/** The setting that disables each group. */
const switches = {
  assistants: 'disable_assistants',
  threads: 'disable_threads',
  runs: 'disable_runs',
  store: 'disable_store',
  a2a: 'disable_a2a',
  mcp: 'disable_mcp',
  meta: 'disable_meta',
} satisfies Record<RouteGroup, keyof HttpConfig>;

/** Whether the configuration disables a path. */
export function isSwitchedOff(http: HttpConfig, path: string): boolean {
  const group = groupOf(path);
  return group !== undefined && http[switches[group]] === true;
}

/** Returns 404 for disabled routes; undefined if none is disabled. */
export function switchedOff(http: HttpConfig): MiddlewareHandler | undefined {
  if (!Object.values(switches).some((key) => http[key] === true)) return undefined;
  return (c, next) => {
    const group = groupOf(c.req.path);
    if (group !== undefined && isSwitchedOff(http, c.req.path) && !isOwnCall(c.req.raw)) {
      throw missing(`${c.req.path} is disabled by http.${switches[group]} of the graph configuration.`);
    }
    // With `disable_meta`, `/ok` reports liveness only.
    if (http.disable_meta === true && c.req.path === '/ok') return Promise.resolve(c.json({ ok: true }));
    return next();
  };
}
