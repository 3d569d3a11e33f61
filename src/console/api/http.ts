import * as z from 'zod';
import { csrfTokenHeader } from '../../contract/control/session.ts';
import { endSession, session } from './session-state.ts';

/** The address of the control service, with a slash at its end. */
export const serviceUrl = new URL('..', document.baseURI);

/** The address of a deployment's agent through the control service. */
export const agentUrl = (deploymentId: string): string => new URL(`agents/${deploymentId}`, serviceUrl).href;

/** A field that was refused, and why. */
export interface FieldProblem {
  /** `source_config.repo_url` */
  field: string;
  message: string;
}

/** A refused or failed request: `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 where there was no response. */
  readonly status: number;
  readonly problems: readonly FieldProblem[];

  constructor(status: number, message: string, problems: readonly FieldProblem[] = []) {
    super(message);
    this.status = status;
    this.problems = problems;
  }
}

export interface RequestOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The headers that every request needs besides the cookie. */
const sessionHeaders = (): Record<string, string> =>
  session.value === undefined ? {} : { [csrfTokenHeader]: session.value.csrf_token };

/** The control service responds with the names of the contract's schemas; agents have no such choice. */
const spelling = (path: string): Record<string, string> =>
  path.startsWith('agents/') ? {} : { 'x-field-names': 'contract' };

/**
 * Sends a request to the control service, or below `/agents/ID` to an agent.
 *
 * @param path without a slash at its start: `v2/deployments`.
 * @throws ApiError
 */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query = {}, body, headers, signal } = options;
  const url = new URL(path, serviceUrl);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return fetchOk(url, {
    method,
    headers: { ...spelling(path), ...type, ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** `fetch` with the session, for clients that make their own requests. @throws ApiError for every refused request */
export async function fetchOk(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(sessionHeaders())) headers.set(name, value);
  const response = await fetch(url, { ...init, headers, credentials: 'same-origin' }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'The service could not be reached. Check that it is running; the page tries again.');
  });
  if (response.ok) return response;
  if (response.status === 401 && session.value !== undefined) endSession('Your session has ended. Sign in again.');
  throw await toApiError(response);
}

/** Sends a request and parses its JSON response. @throws ApiError */
export async function call<Schema extends z.ZodType>(
  method: string,
  path: string,
  schema: Schema,
  options?: RequestOptions,
): Promise<z.infer<Schema>> {
  const response = await send(method, path, options);
  const parsed = schema.safeParse(await response.json());
  if (parsed.success) return parsed.data;
  throw new ApiError(response.status, 'The service sent a response that this page does not know. Reload the page.');
}

const detailed = z.looseObject({
  detail: z.union([
    z.string(),
    z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])).default([]), msg: z.string() })),
  ]),
});

async function toApiError(response: Response): Promise<ApiError> {
  const parsed = detailed.safeParse(await response.json().catch(() => undefined));
  const fallback = `The service responded with ${response.status}. Its log says more.`;
  if (!parsed.success) return new ApiError(response.status, fallback);
  const { detail } = parsed.data;
  if (typeof detail === 'string') return new ApiError(response.status, detail);
  const problems = detail.map(({ loc, msg }) => ({
    field: loc.filter((part) => part !== 'body' && part !== 'query').join('.'),
    message: msg,
  }));
  return new ApiError(
    response.status,
    problems.map(({ field, message }) => `${field}: ${message}`).join('. ') || fallback,
    problems,
  );
}
