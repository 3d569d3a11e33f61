import { logQuery } from '../../contract/control/log.ts';
import type { Answer } from '../../openapi/operation.ts';
import { logFields, logIds, logKinds } from '../rules/queries.ts';
import type { Operation } from './operation.ts';
import { logPageResponse } from './responses.ts';

const revision = '/revisions/{revision_id}';
const page: Readonly<Record<200, Answer>> = {
  200: { description: 'A page of lines; `next_offset` is the offset of the next one.', schema: logPageResponse },
};
const tag = 'Logs';
const kind = { kind: logKinds };
const byQuery = logFields.extend(kind);

const posted = (id: string, path: string, summary: string): Operation => ({
  method: 'post',
  path: `/v1/projects/{deployment_id}${path}`,
  id,
  summary,
  tag,
  body: { schema: logQuery, required: false },
  answers: page,
  errors: [404, 413, 415, 422],
});

/** The logs of revisions. */
export const logOperations: readonly Operation[] = [
  posted('build_logs', `${revision}/build_logs`, 'Read the build log of a revision'),
  posted('deploy_logs', `${revision}/deploy_logs`, 'Read the deploy log of a revision'),
  posted('deploy_logs_of_all', '/deploy_logs', 'Read the deploy logs of all revisions as one'),
  {
    method: 'get',
    path: '/v2/deployments/{deployment_id}/logs',
    id: 'deployment_logs',
    summary: 'Read the logs of all revisions as one',
    tag,
    query: byQuery,
    answers: page,
    errors: [404, 422],
  },
  {
    method: 'get',
    path: `/v2/deployments/{deployment_id}${revision}/logs`,
    id: 'revision_logs',
    summary: 'Read a log of a revision',
    tag,
    query: byQuery,
    answers: page,
    errors: [404, 422],
  },
  {
    method: 'get',
    path: '/v2/deployment-logs',
    id: 'logs_by_query',
    summary: 'Read logs, with all ids in the query',
    tag,
    query: byQuery.extend({ ...logIds.shape, log_type: logKinds, sort_order: logQuery.shape.order }),
    answers: page,
    errors: [404, 422],
  },
  {
    method: 'get',
    path: `/v2/deployments/{deployment_id}${revision}/logs/stream`,
    id: 'follow_log',
    summary: 'Follow a log as it is written',
    description:
      'Server-sent events: `log` with a line as its data and the id of the line, then `end` with the status when the log is complete. The deploy log of the live revision continues for as long as it is live.',
    tag,
    query: logFields.pick({ offset: true, level: true, query: true }).extend(kind),
    headers: ['lastEventId'],
    answers: {
      200: { description: 'The events.', type: 'text/event-stream' },
      204: { description: 'The log is complete and the client has all of it: do not reconnect.' },
    },
    errors: [404, 422],
  },
];
