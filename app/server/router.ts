import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request on its way to one route. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  /** The values of the path's `:name` parameters. */
  params: Readonly<Record<string, string>>;
  /** Parsed only on use. */
  query: () => URLSearchParams;
}

/** The handler of a path, for example `/runs/:intent`. */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  /** Responds. A rejection is an internal error: a 500. */
  handle: (call: Call) => Promise<void> | void;
}

/** Finds the route of a request; the methods of its path where none has this one. */
export type FindRoute = (
  method: string,
  url: string,
) =>
  | { kind: 'found'; route: Route; params: Record<string, string> }
  | { kind: 'other-methods'; allow: string }
  | { kind: 'none' };

/** Makes a router. Routes without parameters are found first. */
export function routerOf(routes: readonly Route[]): FindRoute {
  const isPlain = ({ path }: Route): boolean => !path.includes(':');
  const plain = new Map(routes.filter(isPlain).map((route) => [`${route.method} ${route.path}`, route]));
  const patterned = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, url) => {
    const path = pathOf(url);
    const known = plain.get(`${method} ${path}`);
    if (known) return { kind: 'found', route: known, params: {} };
    const matches = patterned.flatMap(({ route, pattern }) => {
      const groups = pattern.exec(path)?.groups;
      const params = groups === undefined && !pattern.test(path) ? undefined : decoded(groups ?? {});
      return params === undefined ? [] : [{ route, params }];
    });
    const match = matches.find(({ route }) => route.method === method);
    if (match) return { kind: 'found', ...match };
    if (matches.length === 0) return { kind: 'none' };
    return { kind: 'other-methods', allow: [...new Set(matches.map(({ route }) => route.method))].join(', ') };
  };
}

/** The path of a request's address, without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** The query of a request's address. */
export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
