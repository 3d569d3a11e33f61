import * as z from 'zod';
import { pushToken, uploadTarget } from '../../contract/control/upload.ts';
import type { Operation } from './operation.ts';
import { integrationResponse, repositoryResponse } from './responses.ts';

/** The response to an uploaded tarball. */
export const uploaded = z.object({
  object_path: z.string(),
  source_tarball_digest: z.string(),
  size: z.int(),
});

const uploadUrl = (prefix: string, id: string): Operation => ({
  method: 'post',
  path: `${prefix}/deployments/{deployment_id}/upload-url`,
  id,
  summary: 'Request an upload address for a source tarball',
  description: 'For the source `internal_source`. The address works once and expires after 15 minutes.',
  tag: 'Sources',
  headers: ['idempotencyKey'],
  answers: { 200: { description: 'The address, and the path to name the tarball by.', schema: uploadTarget } },
  errors: [400, 404, 409, 422],
});

/** Both addresses of the public service return the same list. */
const integrations = (path: string, prefix: string): Operation[] => [
  {
    method: 'get',
    path: `${path}/install`,
    id: `list_${prefix}github_integrations`,
    summary: 'List the installations of the GitHub App',
    tag: 'Sources',
    answers: { 200: { description: 'Each `id` is an `integration_id`.', schema: z.array(integrationResponse) } },
    errors: [502],
  },
  {
    method: 'get',
    path: `${path}/{integration_id}/repos`,
    id: `list_${prefix}github_repositories`,
    summary: 'List the repositories that an installation reaches',
    tag: 'Sources',
    answers: { 200: { description: 'The repositories.', schema: z.array(repositoryResponse) } },
    errors: [404, 422, 502],
  },
];

/** The sources of deployments. */
export const sourceOperations: readonly Operation[] = [
  uploadUrl('/v2', 'request_upload'),
  uploadUrl('', 'request_upload_unversioned'),
  {
    method: 'put',
    path: '/uploads/{deployment_id}/{object_name}',
    id: 'put_tarball',
    summary: 'Upload a source tarball',
    description: 'At a signed upload address; needs no key.',
    tag: 'Sources',
    query: z.object({ expires: z.string(), signature: z.string() }),
    headers: ['contentDigest'],
    body: { type: 'application/gzip', required: true },
    answers: { 200: { description: 'It is stored.', schema: uploaded } },
    errors: [400, 403, 404, 409, 413, 415, 507],
    open: true,
  },
  {
    method: 'post',
    path: '/v2/deployments/{deployment_id}/push-token',
    id: 'request_push_token',
    summary: 'Request a token to push an image',
    description: 'For the source `internal_docker`.',
    tag: 'Sources',
    answers: { 200: { description: 'The token, a secret, and the registry.', schema: pushToken } },
    errors: [400, 404, 409, 422, 502],
  },
  ...integrations('/v1/integrations/github', ''),
  ...integrations('/v1/integrations/forge/github', 'forge_'),
];
