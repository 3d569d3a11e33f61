import type { MiddlewareHandler } from 'hono';
import { accessOf, type Access } from './access.ts';
import type { AgentAuth } from './agent-auth.ts';
import {
  authorizeCancel,
  authorizeDeliveries,
  authorizeRun,
  authorizeRuns,
  authorizeUnfinishedRuns,
  authorizeCron,
} from './authorize-runs.ts';
import { authorizeStore, type FindItem } from './authorize-store.ts';
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
import type { FindMetadata } from './find-metadata.ts';

export interface AuthorizeDependencies {
  auth: AgentAuth;
  find: FindMetadata;
  findItem: FindItem;
}

/**
 * Authorizes each request to the server's own routes before they run: a handler may refuse it, change it, or narrow
 * what it sees. A route without a rule is rejected.
 */
export function authorize({ auth, find, findItem }: AuthorizeDependencies): MiddlewareHandler {
  return async (c, next) => {
    const access = accessOf(c.req.method, c.req.path);
    if (access.does === 'open' || access.does === 'nothing') return next();
    const user = c.get('authUser');
    if (user === undefined) throw new Refusal(401, 'Unauthorized');
    if (access.does === 'unknown')
      throw new Refusal(403, `This agent's authorization rules do not cover ${c.req.method} ${c.req.path}.`);
    return (await authorizeAccess({ c, auth, user, find }, access, findItem)) ?? next();
  };
}

/** Returns the response if the routes have nothing to add. */
function authorizeAccess(
  question: AuthorizationContext,
  access: Exclude<Access, { does: 'open' | 'nothing' | 'unknown' }>,
  findItem: FindItem,
): Promise<Response | undefined> {
  switch (access.does) {
    case 'create':
      return authorizeCreate(question, access);
    case 'search':
      return authorizeSearch(question, access);
    case 'one':
      return authorizeResource(question, access);
    case 'versions':
      return authorizeVersions(question, access);
    case 'copy':
      return authorizeCopy(question, access);
    case 'prune':
      return authorizePrune(question);
    case 'run':
      return authorizeRun(question, access);
    case 'batch':
      return authorizeRuns(question);
    case 'cancel':
      return authorizeCancel(question);
    case 'deliveries':
      return authorizeDeliveries(question);
    case 'unfinished-runs':
      return authorizeUnfinishedRuns(question);
    case 'cron':
      return authorizeCron(question, access);
    case 'store':
      return authorizeStore(question, access, findItem);
  }
}
