import { Hono } from 'hono';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Clock } from '../clock.ts';
import type { ServerInfo } from '../contract/agent/server-info.ts';
import { isDatabaseUnavailable } from '../postgres/unavailable.ts';
import type { AssistantStore } from './assistants/store.ts';
import type { CronStore } from './crons/store.ts';
import type { Graphs } from './graphs/graphs.ts';
import { AuthRefusal } from './auth/auth-refusal.ts';
import { addMiddleware } from './http/middleware.ts';
import type { MiddlewareOptions } from './http/middleware.ts';
import { describedAs } from './http/described.ts';
import { asOwnCall } from './http/own-calls.ts';
import { configurableHeaders } from './http/header-rules.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { FindTask } from './protocols/a2a/task-places.ts';
import { a2aRoutes, mcpRoutes } from './protocols/routes.ts';
import { Refusal } from './refusal.ts';
import { assistantGraphRoutes } from './routes/assistant-graphs.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { pathId } from './routes/body.ts';
import { cronRoutes, cronStartRoutes } from './routes/crons.ts';
import { cancelRoutes } from './routes/cancel-runs.ts';
import { docsRoutes } from './routes/docs.ts';
import { guard, TOKEN_HEADER } from './routes/guard.ts';
import { statelessStreamRoutes } from './routes/join-stream.ts';
import { batchRoutes, startRoutes } from './routes/runs.ts';
import { storeRoutes } from './routes/store.ts';
import { systemRoutes } from './routes/system.ts';
import { threadDeletion } from './routes/thread-deletion.ts';
import { threadRunRoutes } from './routes/thread-runs.ts';
import { threadStateRoutes } from './routes/thread-states.ts';
import { threadStreamRoutes } from './routes/thread-stream.ts';
import { threadRoutes } from './routes/threads.ts';
import { RunStopped } from './runs/run-error.ts';
import type { Runs } from './runs/runs.ts';
import type { RunStore } from './runs/store.ts';
import type { Items } from './store/items.ts';
import type { OpenThreads } from './threads/open.ts';
import type { ThreadStore } from './threads/store.ts';

/** The dependencies of the routes. */
export interface AppParts {
  assistants: AssistantStore;
  threads: ThreadStore;
  openThreads: OpenThreads;
  runStore: RunStore;
  runs: Runs;
  crons: CronStore;
  graphs: Graphs;
  items: Items;
  info: ServerInfo;
  checkDatabase: () => Promise<void>;
  metrics: Metrics;
  findTask: FindTask;
  clock: Clock;
  log: (line: string) => void;
  token: string | undefined;
  around: Omit<MiddlewareOptions, 'isGuarded' | 'clock' | 'log'>;
}

/** Creates the application with all endpoints. */
export function createApp(parts: AppParts): Hono {
  const { assistants, threads, runStore, runs, graphs, clock } = parts;
  const app = new Hono();
  const { around, token, log } = parts;
  const headersForRuns = configurableHeaders(around.http.configurable_headers);
  app.use(parts.metrics.count());
  app.use(guard(token));
  addMiddleware(app, { ...around, isGuarded: token !== undefined, clock, log });
  app.route('/', systemRoutes(parts));
  app.route(
    '/',
    docsRoutes((document) => describedAs(document, around.http, around.authConfig)),
  );
  const deleteThreads = threadDeletion(around.auth, parts.openThreads.remover);
  app.route('/assistants', assistantRoutes({ assistants, graphs, deleteThreads }));
  app.route('/assistants', assistantGraphRoutes(assistants, graphs));
  app.route('/threads', threadRoutes(parts.openThreads));
  app.route('/threads', threadStateRoutes(parts.openThreads));
  app.route('/threads', threadStreamRoutes({ ...parts.openThreads, clock }));
  // The specification spells the paths of runs on a thread in both ways.
  for (const threadsPath of ['/threads', '/thread']) {
    app.route(threadsPath, threadRunRoutes({ runs, store: runStore, threads, clock }));
    app.route(
      `${threadsPath}/:thread_id/runs`,
      startRoutes(runs, clock, (c) => pathId(c, 'thread_id'), headersForRuns),
    );
  }
  app.route(
    '/runs',
    startRoutes(runs, clock, () => undefined, headersForRuns),
  );
  app.route('/runs', batchRoutes(runs, headersForRuns));
  app.route('/runs', cancelRoutes(runs, runStore));
  app.route('/runs', statelessStreamRoutes(runs, runStore, clock));
  app.route('/store', storeRoutes(parts.items));
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
  const protocols = {
    ...parts,
    version: parts.info.version,
    prefix: around.http.mount_prefix,
    fetch: (request: Request) => {
      if (token !== undefined) request.headers.set(TOKEN_HEADER, token);
      return app.fetch(asOwnCall(request));
    },
  };
  app.route('/', a2aRoutes(protocols));
  app.route('/', mcpRoutes(protocols));
  const { after } = around.app ?? {};
  app.notFound((c) => after?.(c.req.raw) ?? c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404));
  app.onError((error, c) => answerError(error, c, parts.log));
  return app;
}

/** Reports every error as `{"detail": ...}`. The details of an internal error go to the log only. */
function answerError(error: Error, c: Context, log: (line: string) => void): Response {
  if (error instanceof Refusal) return c.json({ detail: error.detail }, error.status);
  if (error instanceof AuthRefusal) return error.toResponse();
  // The agent's own application may throw its framework's errors.
  if (error instanceof HTTPException) return error.getResponse();
  // The caller waits for a run that ends in another process.
  if (error instanceof RunStopped) return c.json({ detail: error.message }, 503, { 'retry-after': '1' });
  if (isDatabaseUnavailable(error)) {
    return c.json({ detail: "The database can't be reached at the moment. Ask again." }, 503, { 'retry-after': '1' });
  }
  log(`${c.req.method} ${c.req.path} failed: ${error.stack ?? String(error)}`);
  return c.json({ detail: 'Internal error. See the server log.' }, 500);
}
