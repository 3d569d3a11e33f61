import type { Env, Hono, MiddlewareHandler } from 'hono';
import type { AgentAuth } from '../auth/agent-auth.ts';
import { authenticate } from '../auth/authenticate.ts';
import { authorize } from '../auth/authorize.ts';
import type { FindItem } from '../auth/authorize-store.ts';
import type { FindMetadata } from '../auth/rows.ts';
import { type Clock, steadyNow } from '../../clock.ts';
import type { AuthConfig } from '../../graph-config/auth-config.ts';
import type { HttpConfig, HeaderRules } from '../../graph-config/http-config.ts';
import { tokenHeader } from '../api/guard.ts';
import { corsOf } from './cors.ts';
import type { CustomApp } from './custom-app.ts';
import { switchedOff } from './switches.ts';
import type { Logger } from '../../logger.ts';
import { loggedHeaders } from './header-rules.ts';

/** The settings and dependencies of the middleware. */
export interface MiddlewareOptions {
  http: HttpConfig;
  /** The `auth` section of the file. */
  authConfig: AuthConfig | null | undefined;
  auth: AgentAuth | undefined;
  app: CustomApp | undefined;
  find: FindMetadata;
  findItem: FindItem;
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
  if (app?.before) routes.route('/', app.before);
  const switches = switchedOff(http);
  if (switches) routes.use(switches);
  if (auth) {
    routes.use(authenticate(auth, { covers: 'own', isGuarded }));
    routes.use(authorize({ auth, find, findItem }));
  }
}

const withoutToken: MiddlewareHandler = (c, next) => {
  c.req.raw.headers.delete(tokenHeader);
  return next();
};

/** The most characters of a header that a line shows. */
const longest = 500;

/**
 * Logs each request: path as sent (which has no line breaks), status, duration (ms) and headers.
 */
function requestLog(rules: HeaderRules, clock: Clock, log: Logger): MiddlewareHandler {
  const shown = loggedHeaders(rules);
  return async (c, next) => {
    const began = steadyNow(clock);
    const headers = Object.fromEntries(
      Object.entries(shown(c.req.raw.headers)).map(([name, value]) => [name, value.slice(0, longest)]),
    );
    await next();
    const { pathname } = new URL(c.req.url);
    log.info(`${c.req.method} ${pathname} ${c.res.status} ${steadyNow(clock) - began} ms ${JSON.stringify(headers)}`);
  };
}
