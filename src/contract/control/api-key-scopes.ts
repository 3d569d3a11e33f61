/** What a key may do (our addition). Without `deploy` it gets the names of secrets, never their values. */
export const apiKeyScopes = ['read', 'deploy', 'agent', 'admin'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** Whether a key with these scopes may do what needs `needed`: `deploy` includes `read`, and `admin` includes all. */
export const allowsScope = (scopes: readonly ApiKeyScope[], needed: ApiKeyScope): boolean =>
  scopes.includes(needed) || scopes.includes('admin') || (needed === 'read' && scopes.includes('deploy'));
