import type { MiddlewareHandler } from 'hono';
import { accessOf } from './access.ts';
import type { AgentAuth } from './agent-auth.ts';
import { authorizeCancel, authorizeRun, authorizeRuns, authorizeCron } from './authorize-runs.ts';
import { authorizeStore } from './authorize-store.ts';
import type { FindItem } from './authorize-store.ts';
import {
  authorizeResource,
  authorizeCopy,
  authorizeCreate,
  authorizeVersions,
  authorizePrune,
  authorizeSearch,
} from './authorize-resources.ts';
import { Refusal } from '../refusal.ts';
import type { AuthorizationContext } from './call-auth-handler.ts';
import type { FindMetadata } from './rows.ts';

/** The dependencies of authorization. */
export interface AuthorizeParts {
  auth: AgentAuth;
  find: FindMetadata;
  findItem: FindItem;
}

/**
 * Authorizes each request to the server's own routes before they run: a handler may refuse it, change it, or narrow what
 * it sees. A route without a rule is rejected.
 */
export function authorize({ auth, find, findItem }: AuthorizeParts): MiddlewareHandler {
  return async (c, next) => {
    const access = accessOf(c.req.method, c.req.path);
    if (access.does === 'open' || access.does === 'nothing') return next();
    const user = c.get('authUser');
    if (user === undefined) throw new Refusal(401, 'Unauthorized');
    const question: AuthorizationContext = { c, auth, user, find };
    switch (access.does) {
      case 'unknown':
        throw new Refusal(403, `This agent's authorization rules do not cover ${c.req.method} ${c.req.path}.`);
      case 'create':
        await authorizeCreate(question, access);
        break;
      case 'search': {
        const answer = await authorizeSearch(question, access);
        if (answer) return answer;
        break;
      }
      case 'one':
        await authorizeResource(question, access);
        break;
      case 'versions': {
        const answer = await authorizeVersions(question, access);
        if (answer) return answer;
        break;
      }
      case 'copy':
        await authorizeCopy(question, access);
        break;
      case 'prune':
        await authorizePrune(question);
        break;
      case 'run':
        await authorizeRun(question, access);
        break;
      case 'batch':
        await authorizeRuns(question);
        break;
      case 'cancel':
        await authorizeCancel(question);
        break;
      case 'cron':
        await authorizeCron(question, access);
        break;
      case 'store': {
        const answer = await authorizeStore(question, access, findItem);
        if (answer) return answer;
        break;
      }
    }
    return next();
  };
}
