import { listenerCreateRequest, listenerPatchRequest } from '../../../contract/control/listener.ts';
import { claimStanding, workClaim, workReport, workRequest } from '../../../contract/control/listener-work.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { readJson } from '../api/request.ts';
import { listenerResponse, listenersResponse } from '../api/response-schemas.ts';
import { pageQuery } from '../../../contract/control/pages.ts';
import { releaseQuery } from './work-service.ts';

const all = '/v2/listeners';
const one = `${all}/:listener_id` as const;
const claims = `${one}/claims` as const;
const claim = `${claims}/:claim_id` as const;
const define = operationsOf('Listeners');
const defineWork = operationsOf('Work of listeners');

/** Listeners, and the work that they claim. */
export const listenerOperations = [
  define.get(all, 'list_listeners', {
    summary: 'List listeners',
    description: 'Each runs revisions in a cluster of its own. A page shorter than `limit` is the last.',
    query: pageQuery,
    responses: { 200: { description: 'A page of listeners, oldest first.', schema: listenersResponse } },
    call: (service, { query }) => service.listListeners(query),
  }),
  define.post(all, 'create_listener', {
    summary: 'Create a listener',
    scope: 'admin',
    description:
      '`compute_id` names the cluster and is unique within the tenant. Deployments choose the listener by its id.',
    headers: [idempotencyKey],
    body: { schema: listenerCreateRequest, required: true },
    responses: { 201: { description: 'The listener.', schema: listenerResponse } },
    errors: [400, 409],
    call: (service, { body, conditions }) => service.createListener(body, conditions),
  }),
  define.get(one, 'get_listener', {
    summary: 'Read a listener',
    description: '`last_report_at` says when it was last heard of.',
    responses: { 200: { description: 'The listener.', schema: listenerResponse } },
    call: (service, { param }) => service.getListener(param('listener_id')),
  }),
  define.patch(one, 'patch_listener', {
    summary: 'Change a listener',
    scope: 'admin',
    description: 'A field that is absent or null stays as it is; `compute_config` is replaced whole.',
    headers: [idempotencyKey],
    body: { schema: listenerPatchRequest, required: true },
    responses: { 200: { description: 'The listener as it is now.', schema: listenerResponse } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) => service.patchListener(param('listener_id'), body, conditions),
  }),
  define.delete(one, 'delete_listener', {
    summary: 'Delete a listener',
    scope: 'admin',
    description: 'Only one without deployments can be deleted.',
    headers: [idempotencyKey],
    responses: { 204: { description: 'It is gone.' } },
    errors: [409],
    call: (service, { param, conditions }) => service.deleteListener(param('listener_id'), conditions),
  }),
  defineWork.post(claims, 'claim_work', {
    summary: 'Claim the next piece of work of a listener',
    description: 'Waits up to `wait_seconds` for work. The claim expires unless it is renewed or reported on.',
    body: { schema: workRequest, required: true },
    responses: {
      200: { description: 'The work, held until `expires_at`.', schema: workClaim },
      204: { description: 'There is none.' },
    },
    handle: async (c) => {
      const { signal } = c.req.raw;
      const work = await c.var.service.claimWork(c.req.param('listener_id'), await readJson(c), { signal });
      return work ? c.json(work) : c.body(null, 204);
    },
  }),
  defineWork.delete(claim, 'release_claim', {
    summary: 'Release a piece of work',
    description: 'For a listener that can’t go on: another process may claim the work at once.',
    query: releaseQuery,
    responses: { 204: { description: 'It is free for the next one.' } },
    errors: [409],
    call: (service, { param, query }) => service.releaseClaim(param('listener_id'), param('claim_id'), query),
  }),
  defineWork.post(`${claim}/renewal`, 'renew_claim', {
    summary: 'Renew a claim',
    description: 'Prolongs the lease by its duration. `wanted` is false once the work was cancelled.',
    responses: { 200: { description: 'The renewed lease.', schema: claimStanding } },
    errors: [409],
    call: (service, { param }) => service.renewClaim(param('listener_id'), param('claim_id')),
  }),
  defineWork.put(`${claim}/status`, 'report_work', {
    summary: 'Report on a piece of work',
    description: 'Lines of the deploy log, each number once, and the status. A final status ends the claim.',
    body: { schema: workReport, required: true },
    responses: { 200: { description: 'The renewed lease.', schema: claimStanding } },
    errors: [400, 409],
    call: (service, { param, body }) => service.reportWork(param('listener_id'), param('claim_id'), body),
  }),
];
