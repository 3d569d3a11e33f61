import type { Context, MiddlewareHandler } from 'hono';
import { tokenHeader } from './guard.ts';
import { groupOf } from '../http/route-groups.ts';
import { accessOf } from './access.ts';
import type { AgentAuth } from './agent-auth.ts';
import { studioUser } from './caller.ts';
import { inProcessUser, onBehalfOf } from './in-process-caller.ts';

/** The header by which the Studio says that it presented a key of the service. Any holder of a key can send it. */
const studio = { header: 'x-auth-scheme', value: 'langsmith' } as const;

/**
 * Authenticates each request once. @param covers which paths. @param isGuarded whether the control service checks a key
 * first, without which the Studio can't be trusted.
 */
export function authenticate(
  auth: AgentAuth,
  { covers, isGuarded }: { covers: 'own' | 'all'; isGuarded: boolean },
): MiddlewareHandler {
  const isStudio = (c: Context) =>
    isGuarded && auth.trustsStudio && c.req.header(studio.header)?.toLowerCase() === studio.value;
  // The handler itself acts for no one yet.
  const authenticated = (request: Request) => onBehalfOf(undefined, () => auth.authenticate(withoutToken(request)));
  return async (c, next) => {
    const { method, path } = c.req;
    const isOurs = groupOf(path) !== undefined;
    const isOpen = accessOf(method, path).does === 'open';
    if (c.get('authUser') === undefined && !isOpen && (isOurs || covers === 'all')) {
      const user = isStudio(c) ? studioUser : (inProcessUser(c.req.raw) ?? (await authenticated(c.req.raw)));
      c.set('authUser', user);
      c.set('auth', { user, scopes: user.permissions });
    }
    await next();
  };
}

/** A copy of the request for the agent, which leaves the body for the routes. */
function withoutToken(request: Request): Request {
  const copy = request.clone();
  copy.headers.delete(tokenHeader);
  return copy;
}
