import { Hono } from 'hono';
import { eventStream } from '../logs/event-stream.ts';
import { lastEventHeader } from '../rules/queries.ts';
import type { Env } from './env.ts';
import { readLogQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

const byQuery = '/v2/deployment-logs';
const ofAll = '/v2/deployments/:id/logs';
const ofOne = '/v2/deployments/:id/revisions/:revision/logs';
const followed = `${ofOne}/stream`;

/**
 * Logs, in pages or as a stream: server-sent events, each line with its id, so that a client reconnects with
 * `Last-Event-ID` and misses nothing.
 *
 * @param leaving aborts when the service ends.
 */
export function logRoutes(leaving?: AbortSignal): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get(byQuery, async (c) => c.json(await c.var.service.logsByQuery(readLogQuery(c))));
  routes.get(ofAll, async (c) => c.json(await c.var.service.deploymentLogs(c.req.param('id'), readLogQuery(c))));
  routes.get(ofOne, async (c) =>
    c.json(await c.var.service.revisionLogs(c.req.param('id'), c.req.param('revision'), readLogQuery(c))),
  );
  routes.get(followed, async (c) => {
    const left = new AbortController();
    const signal = AbortSignal.any([c.req.raw.signal, left.signal, ...(leaving ? [leaving] : [])]);
    const events = await c.var.service.followLog(c.req.param('id'), c.req.param('revision'), readLogQuery(c), {
      signal,
      lastId: c.req.header(lastEventHeader),
    });
    // A 204 stops a browser from reconnecting.
    if (!events) return c.body(null, 204);
    return c.body(
      eventStream(events, () => left.abort()),
      200,
      {
        'Content-Type': 'text/event-stream',
        // Proxies must not buffer the stream.
        'X-Accel-Buffering': 'no',
      },
    );
  });
  for (const path of [byQuery, ofAll, ofOne, followed]) routes.all(path, onlyMethods('GET'));
  return routes;
}
