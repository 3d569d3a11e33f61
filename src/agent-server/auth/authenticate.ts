import type { Context, MiddlewareHandler } from 'hono';
import { TOKEN_HEADER } from '../routes/guard.ts';
import { groupOf } from '../http/route-group.ts';
import { accessOf } from './access.ts';
import type { AgentAuth } from './agent-auth.ts';
import { STUDIO_USER } from './caller.ts';

/** The Studio says with this header that it has shown a key to those in front. Everybody with a key can say so. */
const STUDIO = { header: 'x-auth-scheme', value: 'langsmith' } as const;

/**
 * Finds out who asks, once a request.
 *
 * @param covers which paths: the server's own routes, or the agent's own too.
 * @param isGuarded whether those in front asked for a key, by which alone the Studio can be known.
 */
export function authenticate(
  auth: AgentAuth,
  { covers, isGuarded }: { covers: 'own' | 'all'; isGuarded: boolean },
): MiddlewareHandler {
  const isStudio = (c: Context) =>
    isGuarded && auth.trustsStudio && c.req.header(STUDIO.header)?.toLowerCase() === STUDIO.value;
  return async (c, next) => {
    const { method, path } = c.req;
    const isOurs = groupOf(path) !== undefined;
    const isOpen = accessOf(method, path).does === 'open';
    if (c.get('authUser') === undefined && !isOpen && (isOurs || covers === 'all')) {
      const user = isStudio(c) ? STUDIO_USER : await auth.authenticate(shown(c.req.raw));
      c.set('authUser', user);
      c.set('auth', { user, scopes: user.permissions });
    }
    await next();
  };
}

/** The request as the agent may see it: its body stays for the routes. */
function shown(request: Request): Request {
  const copy = request.clone();
  copy.headers.delete(TOKEN_HEADER);
  return copy;
}
