import { health, healthQuery } from '../../../contract/control/health.ts';
import { operationsOf } from '../api/define-operation.ts';

const define = operationsOf('Health');

/** The health figures of a deployment. */
export const healthOperations = [
  define.get('/v2/deployments/:deployment_id/health', 'deployment_health', {
    summary: 'Read the health figures of a deployment',
    description:
      'Requests, runs and the state of the agent over a range, in steps without gaps, and the revisions that went live meanwhile. Figures are kept for 31 days, and by the minute for 26 hours.',
    query: healthQuery,
    responses: { 200: { description: 'The figures, oldest first.', schema: health } },
    errors: [400],
    call: (service, { param, query }) => service.deploymentHealth(param('deployment_id'), query),
  }),
];
