import { isObject } from '../../contract/json-object.ts';

/** What JSON calls an object. */
export type JsonObject = Record<string, unknown>;

/** The caller. An installation may do what its token was created for. */
export type Who =
  | { kind: 'anonymous' }
  | { kind: 'person'; login: string; token: string }
  | { kind: 'app' }
  | {
      kind: 'installation';
      installationId: number;
      owner: string;
      permissions: Readonly<Record<string, string>>;
      /** The repositories that its token was made for, where that is not all. */
      repositoryIds?: ReadonlySet<number>;
      token: string;
    };

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
  who: Who;
}

/** What is answered. `body` is written as JSON unless it is bytes. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A request and its answer, whole: what is checked against GitHub's own document. */
export interface Exchange {
  call: ApiCall;
  answer: Answer;
}

/** One line per request, for counting. */
export interface RequestLine {
  method: string;
  template: string;
  status: number;
  /** The calling installation; absent for the App itself and for people. */
  installationId?: number;
  /** ms since the epoch */
  at: number;
}

/** GitHub's answer to what it does not do. Thrown by handlers, answered by the server. */
export class Refusal extends Error {
  readonly answer: Answer;
  constructor(status: number, message: string, more: JsonObject = {}) {
    super(message);
    this.name = 'Refusal';
    this.answer = {
      status,
      body: { message, documentation_url: 'https://docs.github.com/rest', status: `${status}`, ...more },
    };
  }
}

export const notFound = (): Refusal => new Refusal(404, 'Not Found');

/** 422 as GitHub words it for one field. */
export const invalid = (resource: string, field: string, message: string): Refusal =>
  new Refusal(422, `Validation Failed: ${message}`, { errors: [{ resource, field, code: 'custom', message }] });

/** A property that holds text, or undefined. */
export const textAt = (from: JsonObject, name: string): string | undefined => {
  const value = from[name];
  return typeof value === 'string' ? value : undefined;
};

/** A property that holds a number, or undefined. */
export const numberAt = (from: JsonObject, name: string): number | undefined => {
  const value = from[name];
  return typeof value === 'number' ? value : undefined;
};

/** A property that holds an object; an empty one where it does not. */
export const objectAt = (from: JsonObject, name: string): JsonObject => {
  const value = from[name];
  return isObject(value) ? value : {};
};

/** The objects of a property that holds a list. */
export const objectsAt = (from: JsonObject, name: string): JsonObject[] => objectsOf(from[name]);

/** The objects of a list; none where it is no list. */
export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
