import { deploymentCreateRequest, deploymentPatchRequest } from '../../../contract/control/deployment.ts';
import { deploymentSummaries, deploymentSummariesQuery } from '../../../contract/control/deployment-summary.ts';
import { health, healthQuery } from '../../../contract/control/health.ts';
import { operationsOf } from '../api/define-operation.ts';
import {
  buildOf,
  fieldNames,
  holdSeconds,
  idempotencyKey,
  idleAfter,
  ifMatch,
  pinnedCommit,
} from '../api/parameters.ts';
import { readConditions, readQuery } from '../api/request.ts';
import { deploymentResponse, deploymentsResponse } from '../api/response-schemas.ts';
import { bulkDeletionQuery, deletionQuery, deploymentFilters } from '../validation/queries.ts';
import { bulkDeletion } from './delete.ts';

const define = operationsOf('Deployments');

const one = '/v2/deployments/:deployment_id';

/** Deployments. */
export const deploymentOperations = [
  define.post('/v2/deployments', 'create_deployment', {
    summary: 'Create a deployment',
    description: 'Makes the deployment, its first revision and its tracing project.',
    headers: [fieldNames, idempotencyKey, holdSeconds, pinnedCommit, buildOf, idleAfter],
    body: { schema: deploymentCreateRequest, required: true },
    responses: {
      201: { description: 'The deployment, with its first revision on its way.', schema: deploymentResponse },
    },
    errors: [400, 409],
    call: (service, { body, conditions }) => service.createDeployment(body, conditions),
  }),
  define.get('/v2/deployments', 'list_deployments', {
    summary: 'List deployments',
    description: 'Newest first. A page shorter than `limit` is the last.',
    query: deploymentFilters,
    headers: [fieldNames],
    responses: { 200: { description: 'A page of deployments.', schema: deploymentsResponse } },
    call: (service, { query }) => service.listDeployments(query),
  }),
  define.get('/v2/deployment-summaries', 'list_deployment_summaries', {
    summary: 'List deployments with their state, live commit, last change, verdict and activity',
    description:
      'By name, or by `sort` those with the most of a count in the last hour first. `total` counts all that match. In `activity`, `errors` are failed requests and `failed_runs` failed runs: a request that starts a run in the background succeeds even if the run then fails.',
    query: deploymentSummariesQuery,
    responses: { 200: { description: 'A page of summaries.', schema: deploymentSummaries } },
    call: (service, { query }) => service.listDeploymentSummaries(query),
  }),
  define.delete('/v2/deployments', 'delete_deployments', {
    summary: 'Delete several deployments',
    description:
      'Names them in `deployment_ids`. Each is deleted as by `DELETE /v2/deployments/{deployment_id}`; `failed` says which were not, and why.',
    query: bulkDeletionQuery,
    headers: [idempotencyKey],
    responses: {
      200: { description: 'All of them are being deleted.', schema: bulkDeletion },
      207: { description: 'Only some of them are being deleted.', schema: bulkDeletion },
    },
    errors: [404],
    handle: async (c) => {
      const deletion = await c.var.service.deleteDeployments(readQuery(c), readConditions(c));
      return c.json(deletion, deletion.failed.length > 0 ? 207 : 200);
    },
  }),
  define.get(one, 'get_deployment', {
    summary: 'Read a deployment',
    description: 'With its latest settings, the status and the address of its agent. `secrets` holds the values.',
    headers: [fieldNames],
    responses: { 200: { description: 'The deployment.', schema: deploymentResponse } },
    call: (service, { param }) => service.getDeployment(param('deployment_id')),
  }),
  define.patch(one, 'patch_deployment', {
    summary: 'Change a deployment',
    description:
      'A field that is absent or null stays as it is. Where a revision is made, `latest_revision_id` names it.',
    headers: [fieldNames, idempotencyKey, ifMatch, holdSeconds, pinnedCommit, buildOf, idleAfter],
    body: { schema: deploymentPatchRequest, required: true },
    responses: { 200: { description: 'The deployment as it is now.', schema: deploymentResponse } },
    errors: [400, 409, 412],
    call: (service, { param, body, conditions }) => service.patchDeployment(param('deployment_id'), body, conditions),
  }),
  define.delete(one, 'delete_deployment', {
    summary: 'Delete a deployment',
    description: 'The status is AWAITING_DELETE until the deletion is complete, then a 404. A repetition is no error.',
    query: deletionQuery,
    headers: [idempotencyKey],
    responses: { 204: { description: 'It is being deleted.' } },
    call: (service, { param, query, conditions }) =>
      service.deleteDeployment(param('deployment_id'), query, conditions),
  }),
];

/** The health figures of a deployment. */
export const healthOperations = [
  operationsOf('Health').get(`${one}/health`, 'deployment_health', {
    summary: 'Read the health figures of a deployment',
    description:
      'Requests, runs and the state of the agent over a range, in steps without gaps, and the revisions that went live meanwhile. Figures are kept for 31 days, and by the minute for 26 hours.',
    query: healthQuery,
    responses: { 200: { description: 'The figures, oldest first.', schema: health } },
    errors: [400],
    call: (service, { param, query }) => service.deploymentHealth(param('deployment_id'), query),
  }),
];
