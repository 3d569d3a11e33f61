import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { Refusal } from '../refusal.ts';

/** The header with the token by which a proxy authenticates itself. */
export const tokenHeader = 'x-landfall-agent-token';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Requires the token, if the server has one. Compares in constant time. */
export function guard(token: string | undefined): MiddlewareHandler {
  if (token === undefined) return (_, next) => next();
  const expected = digest(token);
  return async (c, next) => {
    if (!timingSafeEqual(digest(c.req.header(tokenHeader) ?? ''), expected)) {
      throw new Refusal(403, 'Missing or invalid token. Send requests to the deployment URL.');
    }
    await next();
  };
}
