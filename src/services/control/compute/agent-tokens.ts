import { randomBytes } from 'node:crypto';

/** How many tokens of a deployment, and of how many deployments, are known: those of former processes open nothing. */
const maxTokens = 16;
const maxDeployments = 10_000;

/** Issues the token of each process of an agent, and knows the latest ones. */
export function createAgentTokens() {
  const issued = new Map<string, readonly string[]>();
  /** The latest tokens of a deployment's agents, to be masked. */
  const of = (deploymentId: string): readonly string[] => issued.get(deploymentId) ?? [];
  const issue = (deploymentId: string): string => {
    const token = randomBytes(32).toString('base64url');
    const latest = [token, ...of(deploymentId)].slice(0, maxTokens);
    issued.delete(deploymentId);
    issued.set(deploymentId, latest);
    const [oldest] = issued.keys();
    if (issued.size > maxDeployments && oldest !== undefined) issued.delete(oldest);
    return token;
  };
  return { issue, of };
}

export type AgentTokens = ReturnType<typeof createAgentTokens>;
