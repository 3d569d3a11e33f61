/** What a request to a stable address names: whose agent, and the path (with its query) as the agent knows it. */
export interface AgentPath {
  deploymentId: string;
  /** Begins with a slash; what stood behind `/agents/<deployment id>`. */
  path: string;
}

/**
 * Reads the target of a request; `undefined` when it is no agent's. Dot segments are resolved before the id is read, so
 * that the deployment that was authorised is the one that answers.
 */
export function readAgentPath(target: string): AgentPath | undefined {
  if (!URL.canParse(target, 'http://service')) return undefined;
  const { pathname, search } = new URL(target, 'http://service');
  const found = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname);
  return found?.[1] ? { deploymentId: found[1].toLowerCase(), path: `${found[2] ?? '/'}${search}` } : undefined;
}
