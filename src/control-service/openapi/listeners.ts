import { listenerCreateRequest, listenerPatchRequest } from '../../contract/control/listener.ts';
import { claimStanding, workClaim, workReport, workRequest } from '../../contract/control/listener-work.ts';
import { plainPage } from '../rules/queries.ts';
import { releaseQuery } from '../rules/work-report.ts';
import type { Operation } from './operation.ts';
import { listenerResponse, listenersResponse } from './responses.ts';

const all = '/v2/listeners';
const one = `${all}/{listener_id}`;
const claims = `${one}/claims`;
const claim = `${claims}/{claim_id}`;
const work = 'Work of listeners';

/** Listeners, and the work that they claim. */
export const listenerOperations: readonly Operation[] = [
  {
    method: 'get',
    path: all,
    id: 'list_listeners',
    summary: 'List listeners',
    tag: 'Listeners',
    query: plainPage,
    answers: { 200: { description: 'A page of listeners, oldest first.', schema: listenersResponse } },
    errors: [422],
  },
  {
    method: 'post',
    path: all,
    id: 'create_listener',
    summary: 'Create a listener',
    tag: 'Listeners',
    headers: ['idempotencyKey'],
    body: { schema: listenerCreateRequest, required: true },
    answers: { 201: { description: 'The listener.', schema: listenerResponse } },
    errors: [400, 409, 413, 415, 422],
  },
  {
    method: 'get',
    path: one,
    id: 'get_listener',
    summary: 'Read a listener',
    tag: 'Listeners',
    answers: { 200: { description: 'The listener.', schema: listenerResponse } },
    errors: [404, 422],
  },
  {
    method: 'patch',
    path: one,
    id: 'patch_listener',
    summary: 'Change a listener',
    tag: 'Listeners',
    headers: ['idempotencyKey'],
    body: { schema: listenerPatchRequest, required: true },
    answers: { 200: { description: 'The listener as it is now.', schema: listenerResponse } },
    errors: [400, 404, 409, 413, 415, 422],
  },
  {
    method: 'delete',
    path: one,
    id: 'delete_listener',
    summary: 'Delete a listener',
    tag: 'Listeners',
    headers: ['idempotencyKey'],
    answers: { 204: { description: 'It is gone.' } },
    errors: [404, 409, 422],
  },
  {
    method: 'post',
    path: claims,
    id: 'claim_work',
    summary: 'Claim the next piece of work of a listener',
    tag: work,
    body: { schema: workRequest, required: true },
    answers: {
      200: { description: 'The work, held until `expires_at`.', schema: workClaim },
      204: { description: 'There is none.' },
    },
    errors: [404, 413, 415, 422],
  },
  {
    method: 'delete',
    path: claim,
    id: 'release_claim',
    summary: 'Release a piece of work',
    tag: work,
    query: releaseQuery,
    answers: { 204: { description: 'It is free for the next one.' } },
    errors: [404, 409, 422],
  },
  {
    method: 'post',
    path: `${claim}/renewal`,
    id: 'renew_claim',
    summary: 'Renew a claim',
    tag: work,
    answers: { 200: { description: 'The renewed lease.', schema: claimStanding } },
    errors: [404, 409, 422],
  },
  {
    method: 'put',
    path: `${claim}/status`,
    id: 'report_work',
    summary: 'Report on a piece of work',
    tag: work,
    body: { schema: workReport, required: true },
    answers: { 200: { description: 'The renewed lease.', schema: claimStanding } },
    errors: [400, 404, 409, 413, 415, 422],
  },
];
