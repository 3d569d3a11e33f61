import type { GithubBranch, GithubIntegration, GithubRepository } from '../../../contract/control/integration.ts';
import { GitHubIntegrationError } from './github-error.ts';
import { toIntegrationResponse, toRepositoryResponse } from '../deployments/response.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** Lists integrations, their repositories and branches. */
export function integrationOperations({ store, tenantId, integrations }: ServiceDependencies) {
  return {
    async listIntegrations(): Promise<GithubIntegration[]> {
      const call = new Call('list integrations', 'GET', '/v1/integrations/github/install');
      const records = integrations
        ? await callGitHub(call, () => integrations.list(tenantId))
        : await store.listIntegrations(tenantId);
      return records.map(toIntegrationResponse);
    },

    /** Without a GitHub App, every repository is a 404. */
    async listBranches(integrationId: string, owner: string, name: string): Promise<GithubBranch[]> {
      const path = `/v1/integrations/github/${integrationId}/repos/${owner}/${name}/branches`;
      const call = new Call('list branches', 'GET', path);
      const id = call.id('integration_id', integrationId);
      const integration = call.found('Integration', integrationId, await store.findIntegration(tenantId, id));
      const branches = await callGitHub(call, async () => integrations?.branches(integration, { owner, name }));
      return call.found('Repository', `${owner}/${name}`, branches).map((branch) => ({
        name: branch.name,
        commit_sha: branch.sha,
      }));
    },

    async listRepositories(integrationId: string): Promise<GithubRepository[]> {
      const call = new Call('list repositories', 'GET', `/v1/integrations/github/${integrationId}/repos`);
      const id = call.id('integration_id', integrationId);
      const integration = call.found('Integration', integrationId, await store.findIntegration(tenantId, id));
      const repositories = integrations
        ? await callGitHub(call, () => integrations.repositories(integration))
        : await store.listRepositories(integration.id);
      return repositories.map(toRepositoryResponse);
    },
  };
}

/** Reports GitHub's failures as such: they are neither the caller's fault nor this service's. */
async function callGitHub<T>(call: Call, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof GitHubIntegrationError)) throw error;
    throw call.refusal({ status: 502, detail: error.message });
  }
}
