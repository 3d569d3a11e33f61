import type { MiddlewareHandler } from 'hono';
import { type Clock, steadyNow } from '../../clock.ts';
import type { HeaderRules } from '../../graph-config/http-config.ts';
import { loggedHeaders } from './header-rules.ts';
import type { Logger } from '../../logger.ts';

/** The most characters of a header that a line shows. */
const longest = 500;

/**
 * Logs each request: path as sent (which has no line breaks), status, duration (ms) and headers.
 */
export function requestLog(rules: HeaderRules, clock: Clock, log: Logger): MiddlewareHandler {
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
