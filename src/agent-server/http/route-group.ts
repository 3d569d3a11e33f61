/** The groups of routes that can be switched off, and that authentication is for. */
export type RouteGroup = 'assistants' | 'threads' | 'runs' | 'store' | 'a2a' | 'mcp' | 'meta';

/** Each group by the paths of it; the first that fits counts. Crons are runs to come. */
const PATHS: readonly [group: RouteGroup, path: RegExp][] = [
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

/** The group that a path belongs to; undefined for `/ok` and for what is no route of ours. */
export const groupOf = (path: string): RouteGroup | undefined => PATHS.find(([, its]) => its.test(path))?.[0];
