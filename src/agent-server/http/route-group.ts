/** The groups of routes that can be disabled and authorized. */
export type RouteGroup = 'assistants' | 'threads' | 'runs' | 'store' | 'a2a' | 'mcp' | 'meta';

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
