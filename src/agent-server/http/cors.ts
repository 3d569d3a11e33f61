import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { CorsConfig } from '../../graph-config/http-config.ts';

/** The headers of our answers that clients read; a page may read them whatever the configuration lists. */
const OURS = ['content-location', 'x-pagination-total', 'x-pagination-next'];

/**
 * Tells browsers which pages may call the server: those of every origin where the configuration says nothing, without
 * cookies. A request that no page sends costs nothing.
 */
export function corsOf(config: CorsConfig | null | undefined): MiddlewareHandler {
  const { allow_origins, allow_methods, allow_headers, allow_credentials, expose_headers, max_age } = config ?? {};
  const answer = cors({
    origin: originOf(config?.allow_origin_regex, allow_origins),
    exposeHeaders: [...new Set([...OURS, ...(expose_headers ?? []).map((name) => name.toLowerCase())])],
    ...(allow_methods === undefined ? {} : { allowMethods: allow_methods }),
    // A star would be a header of that name for requests with credentials; left out, what a page asks for is allowed.
    ...(allow_headers === undefined || allow_headers.includes('*') ? {} : { allowHeaders: allow_headers }),
    ...(allow_credentials === undefined ? {} : { credentials: allow_credentials }),
    ...(max_age === undefined ? {} : { maxAge: max_age }),
  });
  return (c, next) => (c.req.header('origin') === undefined ? next() : answer(c, next));
}

type Origin = NonNullable<NonNullable<Parameters<typeof cors>[0]>['origin']>;

function originOf(regex: string | undefined, origins: readonly string[] | undefined): Origin {
  if (origins?.includes('*') || (origins === undefined && regex === undefined)) return '*';
  // The whole origin has to match: `https://.*[.]example[.]test` must not let in what only begins like that.
  const isAllowed = regex === undefined ? undefined : originMatcher(`^(?:${regex})$`);
  return (origin) => (origins?.includes(origin) || isAllowed?.(origin) ? origin : null);
}

/** The longest origin that a browser sends: a scheme, a name of 253 characters, and a port. */
const longestOrigin = 300;

/**
 * Strangers choose the origin: patterns run in linear time. What RE2 has not, such as looking ahead, is left to the
 * runtime's own engine.
 */
function originMatcher(written: string): (origin: string) => boolean {
  const expression = linearPattern(written) ?? new RegExp(written);
  return (origin) => origin.length <= longestOrigin && expression.test(origin);
}

function linearPattern(written: string): RE2JS | undefined {
  try {
    return RE2JS.compile(written);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return undefined;
    throw error;
  }
}
