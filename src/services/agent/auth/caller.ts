import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { userOf, type AuthUser } from './agent-auth.ts';

/** The user for requests of the Studio, which the control service has authenticated by a key. */
export const studioUser: AuthUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
};

/** The key of a `configurable` under which the server puts the user. */
const userClaim = 'langgraph_auth_user';

/** The user of a run. Only the server writes it into a `configurable`. */
export function userIn(configurable: FreeObject | undefined): AuthUser | undefined {
  const user = configurable?.[userClaim];
  return user === undefined ? undefined : userOf(user);
}

/** The keys of a run's `configurable` that describe its user, with the public service's names. */
export const configurableOf = (user: AuthUser): FreeObject => ({
  [userClaim]: user,
  langgraph_auth_user_id: user.identity,
  langgraph_auth_permissions: user.permissions,
});

/** Whether a `configurable` key is reserved for the server's description of the user. */
export const isClaim = (name: string): boolean => name.startsWith('langgraph_auth_');

/** Removes the reserved keys from a request's `configurable`. */
export const withoutClaims = (configurable: FreeObject): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => !isClaim(key)));

/** Only the reserved keys of a `configurable`. */
export const claimsIn = (configurable: FreeObject): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => isClaim(key)));

declare module 'hono' {
  interface ContextVariableMap {
    /** The authenticated user, if the agent has authorization rules. */
    authUser: AuthUser;
    /** The same where the agent's own application expects it, as on the public server. */
    auth: { user: AuthUser; scopes: string[] };
  }
}
