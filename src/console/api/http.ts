import * as z from 'zod';
import {
  agentAccessHeader,
  backgroundHeader,
  csrfTokenHeader,
  session as sessionSchema,
  type Session,
} from '../../contract/control/session.ts';
import { routeToAgent } from './agent-access.ts';
import { endSession, session, openSession } from './session-state.ts';

/** The address of the control service, with a trailing slash. */
export const serviceUrl = new URL('..', document.baseURI);

/** A rejected field and its problem. */
export interface FieldProblem {
  /** `source_config.repo_url` */
  field: string;
  message: string;
}

type ErrorDetails = Pick<ApiError, 'problems' | 'retryAfterSeconds' | 'isRedirect'>;

/** A rejected or failed request: `message` is for users. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 if there was no response. */
  readonly status: number;
  readonly problems: readonly FieldProblem[];
  /** How long to wait before a retry, if the service states it. */
  readonly retryAfterSeconds: number;
  /** Whether the response was a redirect, so that a retry would not help. */
  readonly isRedirect: boolean;

  constructor(
    status: number,
    message: string,
    { problems = [], retryAfterSeconds = 0, isRedirect = false }: Partial<ErrorDetails> = {},
  ) {
    super(message);
    this.status = status;
    this.problems = problems;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isRedirect = isRedirect;
  }
}

/** Whether the requested object does not exist, or its id is invalid. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 422);

export interface RequestOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** Requests the contract's field names from the control service; agents have no other ones. */
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
  const init: RequestInit = {
    method,
    headers: { ...spelling(path), ...type, ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  };
  const usedSession = session.value;
  let response = await fetchAs(usedSession, url, init);
  // Another tab may have signed in again, which changes the CSRF token.
  if (response.status === 403 && usedSession && (await isRenewed(usedSession)))
    response = await fetchAs(session.value, url, init);
  if (response.ok) return response;
  // An agent may respond with 401 by its own rules: only the service knows whether the session has ended.
  if (response.status === 401 && session.value !== undefined) await readSession();
  throw await toApiError(response);
}

async function fetchAs(used: Session | undefined, url: URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (used && isPageIdle()) headers.set(backgroundHeader, '1');
  // Redirects are not followed: an agent could redirect a request with credentials to the service itself.
  const request: RequestInit = { ...init, headers, credentials: 'same-origin', redirect: 'manual' };
  let unreachable = 'The service could not be reached. Check that it is running; the page tries again.';
  try {
    const path = url.href.slice(serviceUrl.href.length);
    const route = used && (await routeToAgent(path, used, (deploymentId) => requestToken(used, deploymentId)));
    if (route instanceof Response) return route;
    if (!route) {
      for (const [name, value] of Object.entries(used ? sessionHeaders(used) : {})) headers.set(name, value);
      return await fetch(url, request);
    }
    unreachable = `Agents could not be reached at ${route.url.origin}. Check that the service is running, and that this browser can open that address.`;
    headers.set(agentAccessHeader, route.token);
    return await fetch(route.url, request);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, unreachable);
  }
}

/** The headers that prove a session to the service. */
const sessionHeaders = ({ csrf_token, tenant_id }: Session): Record<string, string> => ({
  [csrfTokenHeader]: csrf_token,
  // Keep the tab in its workspace while another tab switches to another one.
  'x-tenant-id': tenant_id,
});

/** Requests a token for the requests of this page to an agent. */
const requestToken = (usedSession: Session, deploymentId: string): Promise<Response> =>
  fetch(new URL('v1/session/agents', serviceUrl), {
    method: 'POST',
    headers: {
      ...sessionHeaders(usedSession),
      ...(isPageIdle() ? { [backgroundHeader]: '1' } : {}),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ deployment_id: deploymentId }),
    redirect: 'manual',
  });

/** Whether the browser has a new session in the same workspace, so that the request may be repeated with it. */
async function isRenewed(used: Session): Promise<boolean> {
  if (session.value === used) await readSession();
  return session.value?.csrf_token !== used.csrf_token && session.value?.tenant_id === used.tenant_id;
}

/** Reads the session of the browser's cookie again, which another tab may have changed. */
export async function readSession(): Promise<void> {
  // This must not prolong the session.
  const init: RequestInit = { headers: { [backgroundHeader]: '1' }, redirect: 'manual' };
  const response = await fetch(new URL('v1/session', serviceUrl), init).catch(() => undefined);
  if (response?.status === 401 && session.value !== undefined) return endSession(sessionEnded);
  const parsed = response?.ok ? sessionSchema.safeParse(await response.json().catch(() => undefined)) : undefined;
  if (parsed?.success) openSession(parsed.data);
}

const sessionEnded =
  'Your session has ended. Sign in again. A session ends when its API key is revoked, when you sign out in another tab, and after 12 hours without a request.';

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
  throw new ApiError(response.status, 'Unexpected response from the service. Reload the page.');
}

const redirectMessage =
  'The response was a redirect, which this page does not follow. Reload the page: a proxy may ask you to sign in.';

const errorBody = z.looseObject({
  detail: z.union([
    z.string(),
    z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])).default([]), msg: z.string() })),
  ]),
});

async function toApiError(response: Response): Promise<ApiError> {
  if (response.type === 'opaqueredirect') return new ApiError(502, redirectMessage, { isRedirect: true });
  const parsed = errorBody.safeParse(await response.json().catch(() => undefined));
  const fallback = `The service responded with ${response.status}. See the log of the service for details.`;
  if (!parsed.success) return new ApiError(response.status, fallback);
  const { detail } = parsed.data;
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 0);
  if (typeof detail === 'string') return new ApiError(response.status, detail, { retryAfterSeconds });
  const problems = detail.map(({ loc, msg }) => ({
    field: loc.filter((part) => part !== 'body' && part !== 'query').join('.'),
    message: msg,
  }));
  return new ApiError(
    response.status,
    problems.map(({ field, message }) => `${field}: ${message}`).join('. ') || fallback,
    { problems },
  );
}

/** How long after the last input a page is idle (ms). */
const idleAfterMs = 5 * 60_000;

let lastInput = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastInput = Date.now()), { capture: true, passive: true });
}

/** Whether the page had no input for some minutes: its requests then do not prolong the session. */
const isPageIdle = (): boolean => Date.now() - lastInput > idleAfterMs;
