import { maskOf, type Mask } from '../../../contract/masking/mask.ts';
import { agentSecrets } from '../compute/agent-environment.ts';
import type { AgentTokens } from '../compute/agent-tokens.ts';
import type { AgentRecord } from '../store/agent-records.ts';
import type { Tracing } from '../tracing-projects/tracing.ts';

/** The tokens that this service gives to agents. */
export interface TokensOfAgents {
  tracing?: Pick<Tracing, 'tokenOf'> | undefined;
  agentTokens?: Pick<AgentTokens, 'of'> | undefined;
}

/** The mask for what others report about a deployment's agent: of the same secrets as that of the agent's log. */
export const agentMask = (
  { deploymentId, projectId, secrets, databasePassword }: AgentRecord,
  { tracing, agentTokens }: TokensOfAgents,
): Mask =>
  maskOf(
    agentSecrets({
      secrets,
      database: databasePassword,
      tokens: [projectId === null ? undefined : tracing?.tokenOf(projectId), ...(agentTokens?.of(deploymentId) ?? [])],
    }),
  );
