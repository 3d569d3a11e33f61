import { verdict, verdictReport, verdictsList } from '../../../contract/control/verdict.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';

const define = operationsOf('Revisions');

const path = '/v2/deployments/:deployment_id/revisions/:revision_id/verdicts';

/** What smoke tests found about a revision. */
export const verdictOperations = [
  define.get(path, 'list_verdicts', {
    summary: 'List the verdicts of smoke tests on a revision',
    description: 'Newest first; the newest 20 are kept.',
    responses: { 200: { description: 'The verdicts.', schema: verdictsList } },
    call: (service, { param }) => service.listVerdicts(param('deployment_id'), param('revision_id')),
  }),
  define.post(path, 'report_verdict', {
    summary: 'Report the verdict of smoke tests on a revision',
    description: 'Only adds to the history. The tester decides whether to roll back.',
    headers: [idempotencyKey],
    body: { schema: verdictReport, required: true },
    responses: { 201: { description: 'The verdict.', schema: verdict } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) =>
      service.reportVerdict(param('deployment_id'), param('revision_id'), body, conditions),
  }),
];
