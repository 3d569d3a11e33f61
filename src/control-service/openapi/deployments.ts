import { deploymentCreateRequest, deploymentPatchRequest } from '../../contract/control/deployment.ts';
import { revisionsQuery } from '../../contract/control/revision.ts';
import { bulkDeletionQuery, deletionQuery, deploymentFilters } from '../rules/queries.ts';
import { bulkDeletion } from '../service/deletion.ts';
import type { Operation } from './operation.ts';
import { deploymentResponse, deploymentsResponse, revisionResponse, revisionsResponse } from './responses.ts';

const one = '/v2/deployments/{deployment_id}';
const revision = `${one}/revisions/{revision_id}`;
const change = ['fieldNames', 'idempotencyKey', 'ifMatch'] as const;

/** Deployments and their revisions. */
export const deploymentOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/v2/deployments',
    id: 'create_deployment',
    summary: 'Create a deployment',
    description: 'Makes the deployment, its first revision and its tracing project.',
    tag: 'Deployments',
    headers: ['fieldNames', 'idempotencyKey'],
    body: { schema: deploymentCreateRequest, required: true },
    answers: {
      201: { description: 'The deployment, with its first revision on its way.', schema: deploymentResponse },
    },
    errors: [400, 409, 413, 415, 422],
  },
  {
    method: 'get',
    path: '/v2/deployments',
    id: 'list_deployments',
    summary: 'List deployments',
    description: 'Newest first. A page shorter than `limit` is the last.',
    tag: 'Deployments',
    query: deploymentFilters,
    headers: ['fieldNames'],
    answers: { 200: { description: 'A page of deployments.', schema: deploymentsResponse } },
    errors: [422],
  },
  {
    method: 'delete',
    path: '/v2/deployments',
    id: 'delete_deployments',
    summary: 'Delete several deployments',
    tag: 'Deployments',
    query: bulkDeletionQuery,
    headers: ['idempotencyKey'],
    answers: {
      200: { description: 'All of them are being deleted.', schema: bulkDeletion },
      207: { description: 'Only some of them are being deleted.', schema: bulkDeletion },
    },
    errors: [404, 422],
  },
  {
    method: 'get',
    path: one,
    id: 'get_deployment',
    summary: 'Read a deployment',
    tag: 'Deployments',
    headers: ['fieldNames'],
    answers: { 200: { description: 'The deployment.', schema: deploymentResponse } },
    errors: [404, 422],
  },
  {
    method: 'patch',
    path: one,
    id: 'patch_deployment',
    summary: 'Change a deployment',
    description:
      'A field that is absent or null stays as it is. Where a revision is made, `latest_revision_id` names it.',
    tag: 'Deployments',
    headers: change,
    body: { schema: deploymentPatchRequest, required: true },
    answers: { 200: { description: 'The deployment as it is now.', schema: deploymentResponse } },
    errors: [400, 404, 409, 412, 413, 415, 422],
  },
  {
    method: 'delete',
    path: one,
    id: 'delete_deployment',
    summary: 'Delete a deployment',
    description: 'The status is AWAITING_DELETE until the deletion is complete, then a 404. A repetition is no error.',
    tag: 'Deployments',
    query: deletionQuery,
    headers: ['idempotencyKey'],
    answers: { 204: { description: 'It is being deleted.' } },
    errors: [404, 422],
  },
  {
    method: 'get',
    path: `${one}/revisions`,
    id: 'list_revisions',
    summary: 'List the revisions of a deployment',
    description: 'Newest first. A page shorter than `limit` is the last.',
    tag: 'Revisions',
    query: revisionsQuery,
    headers: ['fieldNames'],
    answers: { 200: { description: 'A page of revisions.', schema: revisionsResponse } },
    errors: [404, 422],
  },
  {
    method: 'post',
    path: `${one}/revisions`,
    id: 'create_revision',
    summary: 'Make a revision',
    description: 'A change that always makes a revision, also when it is empty.',
    tag: 'Revisions',
    headers: change,
    body: { schema: deploymentPatchRequest, required: false },
    answers: { 201: { description: 'The revision.', schema: revisionResponse } },
    errors: [400, 404, 409, 412, 413, 415, 422],
  },
  {
    method: 'get',
    path: revision,
    id: 'get_revision',
    summary: 'Read a revision',
    tag: 'Revisions',
    headers: ['fieldNames'],
    answers: { 200: { description: 'The revision.', schema: revisionResponse } },
    errors: [404, 422],
  },
  {
    method: 'post',
    path: `${revision}/redeploy`,
    id: 'redeploy_revision',
    summary: 'Deploy an earlier revision again',
    description: 'Makes a new revision from its build and its settings.',
    tag: 'Revisions',
    headers: change,
    answers: {
      200: { description: 'The deployment, with the new revision as its latest.', schema: deploymentResponse },
    },
    errors: [400, 404, 409, 412, 422],
  },
  {
    method: 'post',
    path: `${revision}/interruption`,
    id: 'interrupt_revision',
    summary: 'Interrupt a revision in progress',
    tag: 'Revisions',
    headers: ['fieldNames', 'idempotencyKey'],
    answers: { 200: { description: 'The revision, interrupted.', schema: revisionResponse } },
    errors: [400, 404, 409, 422],
  },
];
