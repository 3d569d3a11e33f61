import { baseline, baselineRequest } from '../../../contract/control/baseline.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';

const define = operationsOf('Revisions');

const path = '/v2/deployments/:deployment_id/revisions/:revision_id/baselines/:test_hash';

/** What smoke tests measured of a revision. */
export const baselineOperations = [
  define.get(path, 'get_baseline', {
    summary: 'Read what a smoke test measured of a revision',
    description: 'For comparing a newer revision while this one serves. A 404 where nothing is kept.',
    responses: { 200: { description: 'The answers, without their text.', schema: baseline } },
    call: (service, { param }) => service.getBaseline(param('deployment_id'), param('revision_id'), param('test_hash')),
  }),
  define.put(path, 'keep_baseline', {
    summary: 'Keep what a smoke test measured of a revision',
    description: 'Replaces what the same test measured before. The newest 200 of a deployment are kept.',
    headers: [idempotencyKey],
    body: { schema: baselineRequest, required: true },
    responses: { 200: { description: 'What is kept.', schema: baseline } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) =>
      service.keepBaseline(param('deployment_id'), param('revision_id'), param('test_hash'), body, conditions),
  }),
];
