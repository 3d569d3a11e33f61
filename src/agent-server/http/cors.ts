import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { CorsConfig } from '../../graph-config/http-config.ts';

/** Response headers that clients read, always exposed to pages. */
const ours = ['content-location', 'x-pagination-total', 'x-pagination-next'];

/**
 * Creates the CORS middleware: by default every origin may call, without credentials.
 */
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
const longestOrigin = 300;

/**
 * Untrusted input: RE2 runs in linear time. Patterns that RE2 lacks, such as lookahead, use the runtime's engine.
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
