/** What the public service has and ours does not, by the keys of `lacking.ts`, and why. */
export interface Difference {
  reason: string;
  what: readonly string[];
}

/** Every difference. An obsolete row fails the test as much as a missing one. */
export const differences: readonly Difference[] = [
  {
    reason: 'Signing in to tools on behalf of an agent’s users is a product of its own, which neither document covers.',
    what: [
      'GET /v2/auth/providers',
      'POST /v2/auth/providers',
      'GET /v2/auth/setup/{provider_id}',
      'GET /v2/auth/callback/{provider_id}',
      'POST /v2/auth/callback/{provider_id}',
      'POST /v2/auth/authenticate',
      'GET /v2/auth/wait/{auth_id}',
      'POST /v2/auth/providers/mcp-discover',
      'GET /v2/auth/providers/{provider_id}',
      'PATCH /v2/auth/providers/{provider_id}',
      'DELETE /v2/auth/providers/{provider_id}',
      'GET /v2/auth/tokens',
      'DELETE /v2/auth/tokens',
      'PATCH /v2/auth/tokens/{token_id}/metadata',
      'DELETE /v2/auth/tokens/{token_id}',
      'GET /v2/auth/tokens/exists',
      'GET /v2/auth/tokens/workspace/slack/exists',
      'DELETE /v2/auth/tokens/workspace/slack',
      'GET /v2/auth/agents/{agent_id}/connections',
      'POST /v2/auth/agents/{agent_id}/connections',
      'DELETE /v2/auth/agents/{agent_id}/connections/{connection_id}',
      'AgentConnectionListResponse',
      'AgentConnectionResponse',
      'AuthAuthenticateRequest',
      'AuthAuthenticateResponse',
      'AuthStatus',
      'AuthWaitResponse',
      'AuthWaitStatus',
      'CreateAgentConnectionRequest',
      'MCPOAuthProviderCreateRequest',
      'OAuthFinalizeRequest',
      'OAuthProviderCreateRequest',
      'OAuthProviderResponse',
      'OAuthProviderUpdateRequest',
      'OAuthTokenStatusResponse',
      'OAuthTokenSummary',
      'OAuthTokenUpdateRequest',
    ],
  },
  {
    reason: 'The contract has one word for a deployment that is being deleted.',
    what: ['Deployment.status AWAITING_FINAL_DELETE'],
  },
  {
    reason:
      'Plans and their tiers are sold by the hosted service; here a deployment’s bounds are its resource_spec, or come from its deployment_type.',
    what: [
      'PATCH /v2/deployments/{deployment_id}/resource-tiers',
      'PATCH /v2/deployments/{deployment_id}/deployment-tier',
      'GET /v2/deployments/free-count',
      'SourceConfig.deployment_type dev_zero',
      'SourceConfig.deployment_type dev_free_zero',
    ],
  },
  {
    reason:
      'A deployment has one name here, which is in its address, its database and its cluster; a second one would be shown nowhere.',
    what: ['Deployment.display_name', 'DeploymentPatchRequest.display_name'],
  },
  {
    reason:
      'Marks of the hosted product’s own pages and of its gateway for models; nothing here is shared or routed by them.',
    what: [
      'Deployment.shareable',
      'Deployment.route_through_gateway',
      'Deployment.is_preview',
      'Deployment.is_managed_deep_agent',
      'DeploymentCreateRequest.shareable',
      'DeploymentCreateRequest.route_through_gateway',
      'DeploymentPatchRequest.shareable',
      'DeploymentPatchRequest.route_through_gateway',
    ],
  },
  {
    reason:
      'Agents that are built from templates on the hosted product’s pages; here every deployment runs its owner’s own code.',
    what: [
      'Deployment.agent',
      'DeploymentCreateRequest.agent',
      'GET /v2/deployments ?agent_id',
      'GET /v2/deployments ?agent_environment',
      'Deployment.source internal_template',
    ],
  },
  {
    reason: 'Versions of the vendor’s Python packages, which no build here installs.',
    what: [
      'SourceRevisionConfig.tracked_packages',
      'SourceRevisionConfig.deepagents_version',
      'DeploymentPatchRequest.tracked_packages',
    ],
  },
];
