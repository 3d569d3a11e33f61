import { randomBytes } from 'node:crypto';

/** How many tokens per deployment, and of how many deployments, are remembered: older processes have ended. */
const maxTokens = 16;
const maxDeployments = 10_000;

/** Issues a token for each process of an agent, and remembers the latest ones. */
export function createAgentTokens() {
  const issued = new Map<string, readonly string[]>();
  /** The latest tokens of a deployment's agents, to be masked. */
  const tokensOf = (deploymentId: string): readonly string[] => issued.get(deploymentId) ?? [];
  const issue = (deploymentId: string): string => {
    const token = randomBytes(32).toString('base64url');
    const latest = [token, ...tokensOf(deploymentId)].slice(0, maxTokens);
    issued.delete(deploymentId);
    issued.set(deploymentId, latest);
    const [oldest] = issued.keys();
    if (issued.size > maxDeployments && oldest !== undefined) issued.delete(oldest);
    return token;
  };
  return { issue, of: tokensOf };
}

export type AgentTokens = ReturnType<typeof createAgentTokens>;
