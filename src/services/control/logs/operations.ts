import { logQuery } from '../../../contract/control/log.ts';
import type { ResponseDescription } from '../../../kit/http/operation.ts';
import { operationsOf } from '../api/define-operation.ts';
import { lastEventId } from '../api/parameters.ts';
import { readLogQuery } from '../api/request.ts';
import { logPageResponse } from '../api/response-schemas.ts';
import { lastEventHeader, logFields, logIds, logKinds } from '../validation/queries.ts';
import { toLogLineResponse } from '../deployments/response.ts';
import type { LogEvent } from './follow-log.ts';

const project = '/v1/projects/:deployment_id';
const deployment = '/v2/deployments/:deployment_id';
const revision = 'revisions/:revision_id';
const define = operationsOf('Logs');
const kind = { kind: logKinds };
const byQuery = logFields.extend(kind);

/** What all pages of a log have in common. */
const page = {
  responses: {
    200: { description: 'A page of lines; `next_offset` is the offset of the next one.', schema: logPageResponse },
  } satisfies Record<number, ResponseDescription>,
};
const posted = { ...page, scope: 'read' as const, body: { schema: logQuery, required: false } };
const read = { ...page, query: byQuery, read: readLogQuery };

/** The logs of revisions. A deployment's project has the id of the deployment. */
export const logOperations = [
  define.post(`${project}/${revision}/build_logs`, 'build_logs', {
    summary: 'Read the build log of a revision',
    description: 'Oldest first; `level`, `query` and the times of the body select lines. An empty body means all.',
    ...posted,
    call: (service, { param, body }) => service.buildLogs(param('deployment_id'), param('revision_id'), body),
  }),
  define.post(`${project}/${revision}/deploy_logs`, 'deploy_logs', {
    summary: 'Read the deploy log of a revision',
    description: 'What the agent of the revision prints, and what happens to it. Oldest first.',
    ...posted,
    call: (service, { param, body }) => service.deployLogs(param('deployment_id'), param('revision_id'), body),
  }),
  define.post(`${project}/deploy_logs`, 'deploy_logs_of_all', {
    summary: 'Read the deploy logs of all revisions as one',
    description: 'What the agents of all revisions print, in the order of the lines.',
    ...posted,
    call: (service, { param, body }) => service.deployLogsOfAll(param('deployment_id'), body),
  }),
  define.get(`${deployment}/logs`, 'deployment_logs', {
    summary: 'Read the logs of all revisions as one',
    description: '`kind` selects the build logs or the deploy logs, in the order of their lines.',
    ...read,
    call: (service, { param, query }) => service.deploymentLogs(param('deployment_id'), query),
  }),
  define.get(`${deployment}/${revision}/logs`, 'revision_logs', {
    summary: 'Read a log of a revision',
    description:
      '`kind` selects the build log or the deploy log, which is read by pages: pass `next_offset` as `offset`.',
    ...read,
    call: (service, { param, query }) => service.revisionLogs(param('deployment_id'), param('revision_id'), query),
  }),
  define.get('/v2/deployment-logs', 'logs_by_query', {
    summary: 'Read logs, with all ids in the query',
    description: 'For clients that name a deployment and a revision in the query instead of the path.',
    ...page,
    query: byQuery.extend({ ...logIds.shape, log_type: logKinds, sort_order: logQuery.shape.order }),
    read: readLogQuery,
    errors: [404],
    call: (service, { query }) => service.logsByQuery(query),
  }),
  define.get(`${deployment}/${revision}/logs/stream`, 'follow_log', {
    summary: 'Follow a log as it is written',
    description:
      'Server-sent events: `log` with a line as its data and the id of the line, then `end` with the status when the log is complete. The deploy log of the live revision continues for as long as it is live.',
    query: logFields.pick({ offset: true, level: true, query: true }).extend(kind),
    headers: [lastEventId],
    responses: {
      200: { description: 'The events.', type: 'text/event-stream' },
      204: { description: 'The log is complete and the client has all of it: do not reconnect.' },
    },
    errors: [404],
    async handle(c) {
      const left = new AbortController();
      const { leaving } = c.var.settings;
      const signal = AbortSignal.any([c.req.raw.signal, left.signal, ...(leaving ? [leaving] : [])]);
      const events = await c.var.service.followLog(
        c.req.param('deployment_id'),
        c.req.param('revision_id'),
        readLogQuery(c),
        {
          signal,
          lastId: c.req.header(lastEventHeader),
          isAdmitted: c.var.isStillAdmitted,
        },
      );
      // A 204 stops a browser from reconnecting.
      if (!events) return c.body(null, 204);
      // Proxies must not buffer the stream.
      const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
      return c.body(
        eventStream(events, () => left.abort()),
        200,
        headers,
      );
    },
  }),
];

/** A log event in the format of server-sent events: data is one line of JSON. */
export function writeEvent(event: LogEvent): string {
  if (event.kind === 'quiet') return ': nothing new\n\n';
  if (event.kind === 'line') {
    return `id: ${event.line.id}\nevent: log\ndata: ${JSON.stringify(toLogLineResponse(event.line))}\n\n`;
  }
  const { status = null, status_message = null } = event.revision ?? {};
  return `event: end\ndata: ${JSON.stringify({ status, status_message })}\n\n`;
}

/** Milliseconds after which a disconnected client should reconnect. */
const comeAgainMs = 1_000;

/** The events as bytes, pulled one by one. Calls `left` when the reader has disconnected. */
function eventStream(events: AsyncGenerator<LogEvent, void>, left: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(`retry: ${comeAgainMs}\n\n`));
      },
      async pull(controller) {
        const { done, value } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(writeEvent(value)));
      },
      async cancel() {
        left();
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
}
