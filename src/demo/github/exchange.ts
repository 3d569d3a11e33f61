import { isObject } from '../../kit/json-object.ts';

export type JsonObject = Record<string, unknown>;

export type Caller =
  /** No token, an unknown token, or the App itself. */
  | { kind: 'anonymous' | 'unknown' | 'app' }
  | { kind: 'person'; login: string }
  | { kind: 'installation'; installationId: number; owner: string; token: string };

/** One parsed request to the API. */
export interface ApiCall {
  method: string;
  /** The path as it was sent, without the query. */
  path: string;
  /** GitHub's spelling of the operation's path, as in `/repos/{owner}/{repo}`. */
  template: string;
  /** The decoded values of the template's parameters. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** The body as it was sent. */
  rawBody: string;
  /** The parsed body; empty unless it is a JSON object. */
  body: JsonObject;
  caller: Caller;
}

/** The response to a call. `body` is serialized as JSON. */
export interface ApiResponse {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A request and its response: tests check them against GitHub's OpenAPI description. */
export interface Exchange {
  call: ApiCall;
  answer: ApiResponse;
}

/** An error response of GitHub. Handlers throw it, the server sends it. */
export class Refusal extends Error {
  readonly answer: ApiResponse;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.answer = {
      status,
      body: { message, documentation_url: 'https://docs.github.com/rest', status: `${status}` },
    };
  }
}

export const notFound = (): Refusal => new Refusal(404, 'Not Found');

/** The string of a property; undefined if it is none. */
export const textAt = (object: JsonObject, name: string): string | undefined => {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
};

/** The number of a property; 0 if it is none. */
export const numberAt = (object: JsonObject, name: string): number => {
  const value = object[name];
  return typeof value === 'number' ? value : 0;
};

/** The object of a property; an empty one if it is none. */
export const objectAt = (object: JsonObject, name: string): JsonObject => {
  const value = object[name];
  return isObject(value) ? value : {};
};

/** The objects in the list of a property; none if it is not a list. */
export const objectsAt = (object: JsonObject, name: string): JsonObject[] => {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

/**
 * One page of a list, with a `link` header to the next page. Parameters as on GitHub: `page`, `per_page` (at most 100).
 */
export function pageResponse(
  { query, path }: Pick<ApiCall, 'query' | 'path'>,
  base: string,
  items: readonly unknown[],
  body: (page: unknown[]) => unknown = (page) => page,
): ApiResponse {
  const { page, perPage } = pageOf(query);
  const answer = { status: 200, body: body(items.slice((page - 1) * perPage, page * perPage)) };
  if (page * perPage >= items.length) return answer;
  const next = new URLSearchParams({ ...Object.fromEntries(query), page: String(page + 1) });
  return { ...answer, headers: { link: `<${base}${path}?${next.toString()}>; rel="next"` } };
}

/** The requested page; GitHub's default if it is not a number. */
export function pageOf(query: URLSearchParams): { page: number; perPage: number } {
  const number = (name: string, fallback: number): number => {
    const read = Number(query.get(name) ?? fallback);
    return Number.isInteger(read) && read > 0 ? read : fallback;
  };
  return { page: number('page', 1), perPage: Math.min(100, number('per_page', 30)) };
}
