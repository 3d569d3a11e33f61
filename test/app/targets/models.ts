import { silentLogger } from '../../../src/kit/logger.ts';
import { createTargetResolver, type TargetResolverOptions } from '../../../app/targets/target-resolver.ts';
import type { ListedDeployment } from '../../../app/targets/listed-deployments.ts';
import type { InstallationRepository } from '../../../app/github/github-api.ts';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';

export const agents: InstallationRepository = { installationId: 1, repositoryId: 10, owner: 'acme', name: 'agents' };
export const intruder: InstallationRepository = { installationId: 2, repositoryId: 20, owner: 'mallory', name: 'play' };

/** The uuid of the deployment with this number. */
export const idOf = (count: number): string => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;

type Config = Deployment['source_config'];
type RevisionConfig = Deployment['source_revision_config'];

/** What a deployment has that others have not. */
export interface More {
  source?: string;
  status?: string;
  config?: Config;
  revision?: RevisionConfig;
}

let count = 0;

/** A deployment of acme/agents that is built on every push to main by default. */
export function deployed(
  name: string,
  { source = 'github', status = 'READY', config, revision }: More = {},
): Deployment {
  count += 1;
  const at = '2026-11-01T00:00:00Z';
  return {
    id: idOf(count),
    tenant_id: idOf(0),
    name,
    source,
    status,
    source_config: {
      repo_url: 'https://github.com/acme/agents',
      build_on_push: true,
      deployment_type: 'dev',
      ...config,
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', ...revision },
    secrets: [{ name: 'TOKEN', value: 'sk-canary' }],
    created_at: at,
    updated_at: at,
    latest_revision_id: null,
    active_revision_id: null,
  };
}

export const missing = (): ServiceError =>
  new ServiceError({
    operation: 'GET',
    method: 'GET',
    address: 'https://control.example',
    kind: 'missing',
    status: 404,
    detail: 'not found',
    effect: 'none',
  });

/** A target resolver over models of GitHub, with deploy files by `owner/name` and others by `owner/name/path`. */
export function resolverOf(
  deployments: readonly ListedDeployment[],
  files: Readonly<Record<string, string>> = {},
  parts: Partial<TargetResolverOptions> = {},
) {
  const requested: string[] = [];
  const resolver = createTargetResolver({
    githubApi: {
      defaultBranch: async () => 'main',
      head: async (_, branch) =>
        branch.startsWith('gone/') ? undefined : { sha: 'a'.repeat(40), message: '', committedAt: 0 },
      file: async ({ owner, name }, path, ref) => {
        requested.push(`${path}@${ref}`);
        return files[path === '.github/landfall.yml' ? `${owner}/${name}` : `${owner}/${name}/${path}`];
      },
    },
    control: {
      listDeployments: async ({ limit = 20, offset = 0 }) => {
        requested.push(`list ${offset}`);
        return { resources: deployments.slice(offset, offset + limit), offset };
      },
      getDeployment: async () => {
        throw missing();
      },
    },
    clock: { now: () => 0 },
    bindings: [],
    webHost: 'github.com',
    builder: 'app',
    log: silentLogger,
    ...parts,
  });
  return { ...resolver, requested };
}
