/** The parsed path of a request to an agent: the deployment, and the path (with its query) for the agent. */
export interface AgentPath {
  deploymentId: string;
  /** Begins with a slash; the rest after `/agents/<deployment id>`. */
  path: string;
}

/**
 * Parses the target of a request; `undefined` when it is no agent's. Resolves dot segments before the id is read, so that
 * the authorized deployment is the one that gets the request.
 */
export function readAgentPath(target: string): AgentPath | undefined {
  if (!URL.canParse(target, 'http://service')) return undefined;
  const { pathname, search } = new URL(target, 'http://service');
  const found = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname);
  return found?.[1] ? { deploymentId: found[1].toLowerCase(), path: `${found[2] ?? '/'}${search}` } : undefined;
}
