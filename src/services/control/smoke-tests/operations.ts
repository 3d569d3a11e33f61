import { baseline, baselineRequest } from '../../../contract/control/baseline.ts';
import { verdict, verdictReport, verdictsList } from '../../../contract/control/verdict.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';

const define = operationsOf('Revisions');

const revision = '/v2/deployments/:deployment_id/revisions/:revision_id';
const verdicts = `${revision}/verdicts` as const;
const measured = `${revision}/baselines/:test_hash` as const;

/** What smoke tests found about a revision, and what they measured of it. */
export const smokeTestOperations = [
  define.get(verdicts, 'list_verdicts', {
    summary: 'List the verdicts of smoke tests on a revision',
    description: 'Newest first; the newest 20 are kept.',
    responses: { 200: { description: 'The verdicts.', schema: verdictsList } },
    call: (service, { param }) => service.listVerdicts(param('deployment_id'), param('revision_id')),
  }),
  define.post(verdicts, 'report_verdict', {
    summary: 'Report the verdict of smoke tests on a revision',
    description: 'Only adds to the history. The tester decides whether to roll back.',
    headers: [idempotencyKey],
    body: { schema: verdictReport, required: true },
    responses: { 201: { description: 'The verdict.', schema: verdict } },
    errors: [400, 409],
    call: (service, { param, body, conditions }) =>
      service.reportVerdict(param('deployment_id'), param('revision_id'), body, conditions),
  }),
  define.get(measured, 'get_baseline', {
    summary: 'Read what a smoke test measured of a revision',
    description: 'For comparing a newer revision while this one serves. A 404 where nothing is kept.',
    responses: { 200: { description: 'The answers, without their text.', schema: baseline } },
    call: (service, { param }) => service.getBaseline(param('deployment_id'), param('revision_id'), param('test_hash')),
  }),
  define.put(measured, 'keep_baseline', {
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
