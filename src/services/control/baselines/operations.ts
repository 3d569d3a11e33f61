import type { Context } from 'hono';
import { baseline, baselineRequest } from '../../../contract/control/baseline.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { readConditions, readJson } from '../api/request.ts';

const operation = operationsOf('Revisions');

const path = '/v2/deployments/:deployment_id/revisions/:revision_id/baselines/:test_hash';

const measured = ({ req }: Context<Env, typeof path>) =>
  [req.param('deployment_id'), req.param('revision_id'), req.param('test_hash')] as const;

/** What smoke tests measured of a revision. */
export const baselineOperations = [
  operation({
    method: 'get',
    path,
    id: 'get_baseline',
    summary: 'Read what a smoke test measured of a revision',
    description: 'For comparing a newer revision while this one serves. A 404 where nothing is kept.',
    responses: { 200: { description: 'The answers, without their text.', schema: baseline } },
    errors: [404, 422],
    handle: async (c) => c.json(await c.var.service.getBaseline(...measured(c))),
  }),
  operation({
    method: 'put',
    path,
    id: 'keep_baseline',
    summary: 'Keep what a smoke test measured of a revision',
    description: 'Replaces what the same test measured before. The newest 200 of a deployment are kept.',
    headers: [idempotencyKey],
    body: { schema: baselineRequest, required: true },
    responses: { 200: { description: 'What is kept.', schema: baseline } },
    errors: [400, 404, 409, 413, 415, 422],
    handle: async (c) => c.json(await c.var.service.keepBaseline(...measured(c), await readJson(c), readConditions(c))),
  }),
];
