import type { Env, Hono, MiddlewareHandler } from 'hono';
import type { AgentAuth } from '../auth/agent-auth.ts';
import { authenticate } from '../auth/authenticate.ts';
import { authorize, type AuthorizeDependencies } from '../auth/authorize.ts';
import { inProcessUser, onBehalfOf } from '../auth/in-process-caller.ts';
import { type Clock, steadyNow } from '../../../kit/clock.ts';
import type { AuthConfig } from '../../../agent-folder/graph-config/schema.ts';
import type { HttpConfig, HeaderRules, CorsConfig } from '../../../agent-folder/graph-config/http-config.ts';
import { tokenHeader } from '../auth/guard.ts';
import type { CustomApp } from './custom-app.ts';
import { refuseDisabled } from './route-groups.ts';
import type { Logger } from '../../../kit/logger.ts';
import { loggedHeaders } from './header-rules.ts';
import { cors } from 'hono/cors';
import { RE2JS, RE2JSSyntaxException } from 're2js';

/** Response headers that clients read, always exposed to pages. */
const ours = ['content-location', 'x-pagination-total', 'x-pagination-next', 'warning'];

/** Creates the CORS middleware: by default every origin may call, without credentials. */
export function corsOf(config: CorsConfig | null | undefined): MiddlewareHandler {
  const { allow_origins, allow_methods, allow_headers, allow_credentials, expose_headers, max_age } = config ?? {};
  const answer = cors({
    origin: originOf(config?.allow_origin_regex, allow_origins),
    exposeHeaders: [...new Set([...ours, ...(expose_headers ?? []).map((name) => name.toLowerCase())])],
    ...(allow_methods === undefined ? {} : { allowMethods: allow_methods }),
    // For requests with credentials `*` is a literal header name; without a list, the requested headers are allowed.
    ...(allow_headers === undefined || allow_headers.includes('*') ? {} : { allowHeaders: allow_headers }),
    ...(allow_credentials === undefined ? {} : { credentials: allow_credentials }),
    ...(max_age === undefined ? {} : { maxAge: max_age }),
  });
  return (c, next) => (c.req.header('origin') === undefined ? next() : answer(c, next));
}

type Origin = NonNullable<NonNullable<Parameters<typeof cors>[0]>['origin']>;

function originOf(regex: string | undefined, origins: readonly string[] | undefined): Origin {
  if (origins?.includes('*') || (origins === undefined && regex === undefined)) return '*';
  // Anchored: `https://.*[.]example[.]test` must not match a longer origin.
  const isAllowed = regex === undefined ? undefined : originMatcher(`^(?:${regex})$`);
  return (origin) => (origins?.includes(origin) || isAllowed?.(origin) ? origin : null);
}

/** The longest origin that a browser sends: a scheme, a name of 253 characters, and a port. */
const maxOriginLength = 300;

/** Untrusted input: RE2 runs in linear time. Patterns that RE2 lacks, such as lookahead, use the runtime's engine. */
function originMatcher(written: string): (origin: string) => boolean {
  let expression: RE2JS | RegExp;
  try {
    expression = RE2JS.compile(written);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    expression = new RegExp(written);
  }
  return (origin) => origin.length <= maxOriginLength && expression.test(origin);
}

export interface MiddlewareOptions extends Omit<AuthorizeDependencies, 'auth'> {
  http: HttpConfig;
  authConfig: AuthConfig | null | undefined;
  auth: AgentAuth | undefined;
  app: CustomApp | undefined;
  /** Whether a proxy presents a token with every request. */
  isGuarded: boolean;
  clock: Clock;
  log: Logger;
}

/** Adds the middleware that runs before the server's own routes. */
export function addMiddleware<E extends Env>(
  routes: Hono<E>,
  { http, auth, app, find, findItem, isGuarded, clock, log }: MiddlewareOptions,
): void {
  // The agent's code must not see the token.
  if (auth || app) routes.use(withoutToken);
  routes.use(corsOf(http.cors));
  if (http.logging_headers) routes.use(requestLog(http.logging_headers, clock, log));
  const coversAll = http.enable_custom_route_auth === true;
  if (auth && (coversAll || http.middleware_order === 'auth_first')) {
    routes.use(authenticate(auth, { covers: coversAll ? 'all' : 'own', isGuarded }));
  }
  if (auth) routes.use(onBehalfOfSender);
  if (app?.before) routes.route('/', app.before);
  routes.use(refuseDisabled(http));
  if (auth) {
    routes.use(authenticate(auth, { covers: 'own', isGuarded }));
    routes.use(authorize({ auth, find, findItem }));
  }
}

const withoutToken: MiddlewareHandler = (c, next) => {
  c.req.raw.headers.delete(tokenHeader);
  return next();
};

const onBehalfOfSender: MiddlewareHandler = (c, next) => {
  const { raw } = c.req;
  const user = inProcessUser(raw);
  return onBehalfOf(user ? { user } : { headers: new Headers(raw.headers) }, next);
};

const maxHeaderLength = 500;

/** Logs each request: path as sent (which has no line breaks), status, duration (ms) and headers. */
function requestLog(rules: HeaderRules, clock: Clock, log: Logger): MiddlewareHandler {
  const shown = loggedHeaders(rules);
  return async (c, next) => {
    const began = steadyNow(clock);
    const headers = Object.fromEntries(
      Object.entries(shown(c.req.raw.headers)).map(([name, value]) => [name, value.slice(0, maxHeaderLength)]),
    );
    await next();
    const { pathname } = new URL(c.req.url);
    log.info(`${c.req.method} ${pathname} ${c.res.status} ${steadyNow(clock) - began} ms ${JSON.stringify(headers)}`);
  };
}
