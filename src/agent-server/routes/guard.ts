import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { Refusal } from '../refusal.ts';

/** The header in which whoever stands in front of an agent shows that it may ask. */
export const TOKEN_HEADER = 'x-landfall-agent-token';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Lets a request pass that shows the token; all of them where the server has none. How long it takes tells nothing. */
export function guard(token: string | undefined): MiddlewareHandler {
  if (token === undefined) return (_, next) => next();
  const expected = digest(token);
  return async (c, next) => {
    if (!timingSafeEqual(digest(c.req.header(TOKEN_HEADER) ?? ''), expected)) {
      throw new Refusal(403, 'This agent answers through its deployment only.');
    }
    await next();
  };
}
