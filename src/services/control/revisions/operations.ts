import { deploymentPatchRequest } from '../../../contract/control/deployment.ts';
import { holdDecisionRequest, revisionsQuery, revisionPackages } from '../../../contract/control/revision.ts';
import { revisionHistoryQuery } from '../../../contract/control/revision-history.ts';
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
import {
  deploymentResponse,
  revisionHistoryResponse,
  revisionResponse,
  revisionsResponse,
} from '../api/response-schemas.ts';

const define = operationsOf('Revisions');

const all = '/v2/deployments/:deployment_id/revisions';
const one = `${all}/:revision_id` as const;
const change = [fieldNames, idempotencyKey, ifMatch, holdSeconds];

/** The revisions of a deployment. */
export const revisionOperations = [
  define.get(all, 'list_revisions', {
    summary: 'List the revisions of a deployment',
    description: 'Newest first. A page shorter than `limit` is the last.',
    query: revisionsQuery,
    headers: [fieldNames],
    responses: { 200: { description: 'A page of revisions.', schema: revisionsResponse } },
    call: (service, { param, query }) => service.listRevisions(param('deployment_id'), query),
  }),
  define.get('/v2/deployments/:deployment_id/revision-history', 'list_revision_history', {
    summary: 'List the revisions of a deployment with their causes, commits, statuses, changes and verdicts',
    description: 'Newest first. A page shorter than `limit` is the last.',
    query: revisionHistoryQuery,
    headers: [fieldNames],
    responses: { 200: { description: 'A page of the history.', schema: revisionHistoryResponse } },
    call: (service, { param, query }) => service.listRevisionHistory(param('deployment_id'), query),
  }),
  define.post(all, 'create_revision', {
    summary: 'Make a revision',
    description: 'A change that always makes a revision, also when it is empty.',
    headers: [...change, pinnedCommit, buildOf, idleAfter],
    body: { schema: deploymentPatchRequest, required: false },
    responses: { 201: { description: 'The revision.', schema: revisionResponse } },
    errors: [400, 404, 409, 412],
    call: (service, { param, body, conditions }) =>
      service.createRevision(param('deployment_id'), body ?? {}, conditions),
  }),
  define.get(one, 'get_revision', {
    summary: 'Read a revision',
    description: '`status` says how far it is, and `status_message` why it failed.',
    headers: [fieldNames],
    responses: { 200: { description: 'The revision.', schema: revisionResponse } },
    call: (service, { param }) => service.getRevision(param('deployment_id'), param('revision_id')),
  }),
  define.get(`${one}/packages`, 'list_revision_packages', {
    summary: 'List the packages that a revision was built with',
    description: 'The interpreter and the packages of graphs in Python; empty for other agents, and before the build.',
    headers: [fieldNames],
    responses: { 200: { description: 'The packages.', schema: revisionPackages } },
    call: (service, { param }) => service.listRevisionPackages(param('deployment_id'), param('revision_id')),
  }),
  define.post(`${one}/redeploy`, 'redeploy_revision', {
    summary: 'Deploy an earlier revision again',
    description: 'Makes a new revision from its build and its settings.',
    headers: change,
    responses: {
      200: { description: 'The deployment, with the new revision as its latest.', schema: deploymentResponse },
    },
    errors: [400, 409, 412],
    call: (service, { param, conditions }) =>
      service.redeployRevision(param('deployment_id'), param('revision_id'), conditions),
  }),
  define.post(`${one}/interruption`, 'interrupt_revision', {
    summary: 'Interrupt a revision in progress',
    description: 'Stops its build or its rollout. The live revision goes on serving.',
    headers: [fieldNames, idempotencyKey],
    responses: { 200: { description: 'The revision, interrupted.', schema: revisionResponse } },
    errors: [400, 409],
    call: (service, { param, conditions }) =>
      service.interruptRevision(param('deployment_id'), param('revision_id'), conditions),
  }),
  define.post(`${one}/promote`, 'promote_revision', {
    summary: 'Promote a held revision',
    description: 'Switches the traffic to it. A repetition is no error; the status tells when it is live.',
    headers: [fieldNames, idempotencyKey],
    body: { schema: holdDecisionRequest, required: false },
    responses: { 200: { description: 'The revision, to be switched to.', schema: revisionResponse } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) =>
      service.promoteRevision(param('deployment_id'), param('revision_id'), body, conditions),
  }),
  define.post(`${one}/discard`, 'discard_revision', {
    summary: 'Discard a held revision',
    description: 'Ends it as INTERRUPTED; the live one goes on serving. A repetition is no error.',
    headers: [fieldNames, idempotencyKey],
    body: { schema: holdDecisionRequest, required: false },
    responses: { 200: { description: 'The revision, interrupted.', schema: revisionResponse } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) =>
      service.discardRevision(param('deployment_id'), param('revision_id'), body, conditions),
  }),
];
