import type { MiddlewareHandler } from 'hono';
import { accessOf } from './access.ts';
import type { AgentAuth } from './agent-auth.ts';
import { askToCancel, askToRun, askToRunAll, askToSchedule } from './ask-runs.ts';
import { askAboutStore } from './ask-store.ts';
import type { FindItem } from './ask-store.ts';
import { askAboutOne, askToCopy, askToCreate, askToListVersions, askToPrune, askToSearch } from './ask-things.ts';
import { AuthRefusal } from './auth-refusal.ts';
import type { Questioned } from './question.ts';
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
    if (user === undefined) throw new AuthRefusal(401, 'Unauthorized');
    const question: Questioned = { c, auth, user, find };
    switch (access.does) {
      case 'unknown':
        throw new AuthRefusal(403, `This agent's authorization rules do not cover ${c.req.method} ${c.req.path}.`);
      case 'create':
        await askToCreate(question, access);
        break;
      case 'search': {
        const answer = await askToSearch(question, access);
        if (answer) return answer;
        break;
      }
      case 'one':
        await askAboutOne(question, access);
        break;
      case 'versions': {
        const answer = await askToListVersions(question, access);
        if (answer) return answer;
        break;
      }
      case 'copy':
        await askToCopy(question, access);
        break;
      case 'prune':
        await askToPrune(question);
        break;
      case 'run':
        await askToRun(question, access);
        break;
      case 'batch':
        await askToRunAll(question);
        break;
      case 'cancel':
        await askToCancel(question);
        break;
      case 'cron':
        await askToSchedule(question, access);
        break;
      case 'store': {
        const answer = await askAboutStore(question, access, findItem);
        if (answer) return answer;
        break;
      }
    }
    return next();
  };
}
