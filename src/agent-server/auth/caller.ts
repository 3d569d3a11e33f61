import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { AuthUser } from './agent-auth.ts';

/** Whoever the Studio is for: those in front of the agent have asked for a key. */
export const STUDIO_USER: AuthUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
};

/** The key of a `configurable` under which the server puts who asked. */
export const USER_CLAIM = 'langgraph_auth_user';

/** What a run's `configurable` tells its graph of whoever asked for it, by the public service's names. */
export const configurableOf = (user: AuthUser): FreeObject => ({
  [USER_CLAIM]: user,
  langgraph_auth_user_id: user.identity,
  langgraph_auth_permissions: user.permissions,
});

/** Whether a name in a `configurable` is one by which the server tells who asked: nobody else may say that. */
export const isClaim = (name: string): boolean => name.startsWith('langgraph_auth_');

/** A request's `configurable` without what only the server may say. */
export const withoutClaims = (configurable: FreeObject): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => !isClaim(key)));

/** What only the server may say in a `configurable`, where it has said it. */
export const claimsIn = (configurable: FreeObject): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => isClaim(key)));

declare module 'hono' {
  interface ContextVariableMap {
    /** Who asks, where the agent has rules of access. */
    authUser: AuthUser;
    /** The same for the agent's own application, which finds it here on the public server. */
    auth: { user: AuthUser; scopes: string[] };
  }
}
