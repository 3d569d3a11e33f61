import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Clock } from '../clock.ts';
import type { ServerInfo } from '../contract/agent/server-info.ts';
import { isDatabaseUnavailable } from '../database/unavailable.ts';
import type { AssistantStore } from './assistants/store.ts';
import type { CronStore } from './crons/store.ts';
import type { Graphs } from './graphs/graphs.ts';
import { Refusal } from './refusal.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { pathId } from './routes/body.ts';
import { cronRoutes, cronStartRoutes } from './routes/crons.ts';
import { guard } from './routes/guard.ts';
import { batchRoutes, startRoutes } from './routes/runs.ts';
import { systemRoutes } from './routes/system.ts';
import { threadRunRoutes } from './routes/thread-runs.ts';
import { threadRoutes } from './routes/threads.ts';
import type { Runs } from './runs/runs.ts';
import type { RunStore } from './runs/store.ts';
import type { ThreadStore } from './threads/store.ts';

/** What the routes work with. */
export interface AppParts {
  assistants: AssistantStore;
  threads: ThreadStore;
  runStore: RunStore;
  runs: Runs;
  crons: CronStore;
  graphs: Graphs;
  info: ServerInfo;
  checkDatabase: () => Promise<void>;
  clock: Clock;
  log: (line: string) => void;
  token: string | undefined;
}

/** The endpoints, from a request to a response. */
export function createApp(parts: AppParts): Hono {
  const { assistants, threads, runStore, runs, graphs, clock } = parts;
  const app = new Hono();
  app.use(guard(parts.token));
  app.route('/', systemRoutes(parts.info, parts.checkDatabase));
  app.route('/assistants', assistantRoutes(assistants, graphs));
  app.route('/threads', threadRoutes(threads, runs, graphs));
  app.route('/threads', threadRunRoutes({ runs, store: runStore, threads, clock }));
  app.route(
    '/threads/:thread_id/runs',
    startRoutes(runs, clock, (c) => pathId(c, 'thread_id')),
  );
  app.route(
    '/runs',
    startRoutes(runs, clock, () => undefined),
  );
  app.route('/runs', batchRoutes(runs));
  app.route('/runs/crons', cronRoutes(parts));
  app.route(
    '/runs/crons',
    cronStartRoutes(parts, () => undefined),
  );
  for (const threadsPath of ['/threads', '/thread']) {
    app.route(
      `${threadsPath}/:thread_id/runs/crons`,
      cronStartRoutes(parts, (c) => pathId(c, 'thread_id')),
    );
  }
  app.notFound((c) => c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404));
  app.onError((error, c) => answerError(error, c, parts.log));
  return app;
}

/** Every error in the one shape `{"detail": ...}`. What is a mistake of ours is told to the log and not to the caller. */
function answerError(error: Error, c: Context, log: (line: string) => void): Response {
  if (error instanceof Refusal) return c.json({ detail: error.detail }, error.status);
  if (isDatabaseUnavailable(error)) {
    return c.json({ detail: "The database can't be reached at the moment. Ask again." }, 503, { 'retry-after': '1' });
  }
  log(`${c.req.method} ${c.req.path} failed: ${error.stack ?? String(error)}`);
  return c.json({ detail: 'The server failed. Its log says more.' }, 500);
}
