import { verdict, verdictReport, verdictsList } from '../../../contract/control/verdict.ts';
import { operationsOf } from '../api/operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { readConditions, readJson } from '../api/request.ts';

const operation = operationsOf('Revisions');

const path = '/v2/deployments/:deployment_id/revisions/:revision_id/verdicts';

/** What smoke tests found about a revision. */
export const verdictOperations = [
  operation({
    method: 'get',
    path,
    id: 'list_verdicts',
    summary: 'List the verdicts of smoke tests on a revision',
    description: 'Newest first; the newest 20 are kept.',
    responses: { 200: { description: 'The verdicts.', schema: verdictsList } },
    errors: [404, 422],
    handle: async (c) =>
      c.json(await c.var.service.listVerdicts(c.req.param('deployment_id'), c.req.param('revision_id'))),
  }),
  operation({
    method: 'post',
    path,
    id: 'report_verdict',
    summary: 'Report the verdict of smoke tests on a revision',
    description: 'Only adds to the history. The tester decides whether to roll back.',
    headers: [idempotencyKey],
    body: { schema: verdictReport, required: true },
    responses: { 201: { description: 'The verdict.', schema: verdict } },
    errors: [400, 404, 409, 413, 415, 422],
    handle: async (c) =>
      c.json(
        await c.var.service.reportVerdict(
          c.req.param('deployment_id'),
          c.req.param('revision_id'),
          await readJson(c),
          readConditions(c),
        ),
        201,
      ),
  }),
];
