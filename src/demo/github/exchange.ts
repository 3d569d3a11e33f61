import { isObject } from '../../kit/json-object.ts';

/** What JSON calls an object. */
export type JsonObject = Record<string, unknown>;

/** The caller. */
export type Caller =
  /** Nobody, a token that nobody has, or the App itself. */
  | { kind: 'anonymous' | 'unknown' | 'app' }
  | { kind: 'person'; login: string }
  | { kind: 'installation'; installationId: number; owner: string; token: string };

/** One request to the API, read. */
export interface ApiCall {
  method: string;
  /** The path as it was sent, without the query. */
  path: string;
  /** GitHub's spelling of the operation's path, as in `/repos/{owner}/{repo}`. */
  template: string;
  /** The parts of the path that the template names, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** The body as it was sent. */
  sent: string;
  /** The body where it is a JSON object; empty otherwise. */
  body: JsonObject;
  who: Caller;
}

/** What is answered. `body` is written as JSON. */
export interface ApiResponse {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A request and its answer, whole: what is checked against GitHub's own document. */
export interface Exchange {
  call: ApiCall;
  answer: ApiResponse;
}

/** GitHub's answer to what it does not do. Thrown by handlers, answered by the server. */
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

/** A property that holds text, or undefined. */
export const textAt = (from: JsonObject, name: string): string | undefined => {
  const value = from[name];
  return typeof value === 'string' ? value : undefined;
};

/** A property that holds a number, or 0. */
export const numberAt = (from: JsonObject, name: string): number => {
  const value = from[name];
  return typeof value === 'number' ? value : 0;
};

/** A property that holds an object; an empty one where it does not. */
export const objectAt = (from: JsonObject, name: string): JsonObject => {
  const value = from[name];
  return isObject(value) ? value : {};
};

/** The objects of a property that holds a list; none where it does not. */
export const objectsAt = (from: JsonObject, name: string): JsonObject[] => {
  const value = from[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

/** One page of a list with the header that leads on, as GitHub pages: `page`, `per_page` of at most 100. */
export function paged(
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
  const number = (name: string, usual: number): number => {
    const read = Number(query.get(name) ?? usual);
    return Number.isInteger(read) && read > 0 ? read : usual;
  };
  return { page: number('page', 1), perPage: Math.min(100, number('per_page', 30)) };
}
