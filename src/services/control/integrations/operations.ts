import * as z from 'zod';
import { githubBranch } from '../../../contract/control/integration.ts';
import { operationsOf } from '../api/define-operation.ts';
import { integrationResponse, repositoryResponse } from '../api/response-schemas.ts';

const define = operationsOf('Sources');

/** The public service has paths of their own for its newer kind of App; ours has one App behind both. */
const atPath = (path: string, prefix: string) => [
  define.get(`${path}/install`, `list_${prefix}github_integrations`, {
    summary: 'List the installations of the GitHub App',
    description: 'Those that the tenant may use, as `source_config.integration_id`. Both paths of it answer alike.',
    responses: { 200: { description: 'Each `id` is an `integration_id`.', schema: z.array(integrationResponse) } },
    errors: [502],
    call: (service) => service.listIntegrations(),
  }),
  define.get(`${path}/:integration_id/repos`, `list_${prefix}github_repositories`, {
    summary: 'List the repositories that an installation reaches',
    description: 'Those whose address can be `source_config.repo_url` with this installation.',
    responses: { 200: { description: 'The repositories.', schema: z.array(repositoryResponse) } },
    errors: [502],
    call: (service, { param }) => service.listRepositories(param('integration_id')),
  }),
];

/** The installations of the GitHub App, read-only. */
export const integrationOperations = [
  ...atPath('/v1/integrations/github', ''),
  define.get('/v1/integrations/github/:integration_id/repos/:owner/:repo/branches', 'list_github_branches', {
    summary: 'List the branches of a repository',
    description: 'Their names and latest commits, for `source_revision_config.repo_ref`.',
    responses: { 200: { description: 'The branches, at most 1,000.', schema: z.array(githubBranch) } },
    errors: [502],
    call: (service, { param }) => service.listBranches(param('integration_id'), param('owner'), param('repo')),
  }),
  ...atPath('/v1/integrations/forge/github', 'forge_'),
];
