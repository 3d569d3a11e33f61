import type { MiddlewareHandler } from 'hono';
import { type Clock, steadyNow } from '../../clock.ts';
import type { HeaderRules } from '../../graph-config/http-config.ts';
import { loggedHeaders } from './header-rules.ts';

/** What a line shows of a header at most, in characters. */
const LONGEST = 500;

/**
 * A line of the log for each request: what was asked, in its caller's spelling, which has no line breaks, how it was
 * answered, after how long (ms), and its headers.
 */
export function requestLog(rules: HeaderRules, clock: Clock, log: (line: string) => void): MiddlewareHandler {
  const shown = loggedHeaders(rules);
  return async (c, next) => {
    const began = steadyNow(clock);
    const headers = Object.fromEntries(
      Object.entries(shown(c.req.raw.headers)).map(([name, value]) => [name, value.slice(0, LONGEST)]),
    );
    await next();
    const { pathname } = new URL(c.req.url);
    log(`${c.req.method} ${pathname} ${c.res.status} ${steadyNow(clock) - began} ms ${JSON.stringify(headers)}`);
  };
}
