import { Hono, type Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { stackOf } from '../../../kit/errors.ts';
import type { OpenApiDocument } from '../../../kit/http/openapi.ts';
import { mountOperations } from '../../../kit/http/operation.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import { configurableHeaders } from '../http/header-rules.ts';
import { addMiddleware, type MiddlewareOptions } from '../http/middleware.ts';
import { asOwnCall, disabledBy } from '../http/route-groups.ts';
import { Refusal } from '../refusal.ts';
import { RunStopped } from '../runs/run-error.ts';
import { guard, tokenHeader } from '../auth/guard.ts';
import { type Env, type AppDependencies, threadDeletion } from './operation.ts';
import { operations } from './operations.ts';
import { WorkerGone } from '../graphs/python/connection.ts';
import type { Logger } from '../../../kit/logger.ts';
import { memberOf } from '../members.ts';
import type { Fetch } from '../protocols/internal-api.ts';
import { accessOf } from '../auth/access.ts';
import { uiFilesWithoutKey } from '../ui/operations.ts';
import type { AuthConfig } from '../../../agent-folder/graph-config/schema.ts';
import type { HttpConfig } from '../../../agent-folder/graph-config/http-config.ts';

export interface AppOptions extends Omit<
  AppDependencies,
  'headersForRuns' | 'deleteThreads' | 'describe' | 'fetch' | 'mountPrefix'
> {
  /** The token that a proxy in front presents with every request. */
  token: string | undefined;
  keepsNumbers: boolean;
  around: Omit<MiddlewareOptions, 'isGuarded' | 'clock' | 'log'>;
}

/** Calls the server's own operations without the network. */
export const internalFetch =
  (app: Hono<Env>, token: string | undefined): Fetch =>
  (request) => {
    if (token !== undefined) request.headers.set(tokenHeader, token);
    return app.fetch(asOwnCall(request), {});
  };

/** Creates the application with all operations. */
export function createApp({ token, keepsNumbers, around, ...given }: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  const { clock, log } = given;
  let document: Promise<OpenApiDocument> | undefined;
  const dependencies: AppDependencies = {
    ...given,
    headersForRuns: configurableHeaders(around.http.configurable_headers),
    deleteThreads: threadDeletion(around.auth, given.deleter),
    // Loaded on first use: most processes never need it and start faster.
    describe: () =>
      (document ??= import('./document.ts').then(({ openApiDocument }) =>
        describedAs(openApiDocument(), around.http, around.authConfig),
      )),
    fetch: internalFetch(app, token),
    mountPrefix: around.http.mount_prefix,
  };
  app.use(given.metrics.count());
  app.use(guard(token));
  app.use((context, next) => {
    context.set('dependencies', dependencies);
    context.set('keepsNumbers', keepsNumbers);
    return next();
  });
  app.use(uiFilesWithoutKey);
  addMiddleware(app, { ...around, isGuarded: token !== undefined, clock, log });
  mountOperations(app, operations);
  const { after } = around.app ?? {};
  app.notFound((c) => {
    c.set('isUnknown', true);
    const answer = after?.(c.req.raw, { user: c.get('authUser'), upgrade: c.env.upgrade });
    return answer ?? c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404);
  });
  app.onError((error, c) => answerError(error, c, log));
  return app;
}

/** Reports every error as `{"detail": ...}`. The details of an internal error go to the log only. */
function answerError(error: Error, c: Context, log: Logger): Response {
  // The agent's own application may throw its framework's errors.
  if (error instanceof Refusal || error instanceof HTTPException) {
    const response = error instanceof Refusal ? error.toResponse() : error.getResponse();
    // By the context, which adds the headers that the agent's own middleware has set.
    return c.newResponse(response.body, response);
  }
  // The caller waits for a run that ends in another process.
  if (error instanceof RunStopped) return c.json({ detail: error.message }, 503, { 'retry-after': '1' });
  if (isDatabaseUnavailable(error)) {
    return c.json({ detail: 'The database is unavailable. Retry in a moment.' }, 503, { 'retry-after': '1' });
  }
  if (error instanceof WorkerGone) {
    const detail = 'The Python process of the agent has ended, and another one starts. Retry in a moment.';
    return c.json({ detail }, 503, { 'retry-after': '1' });
  }
  log.error(`${c.req.method} ${c.req.path} failed: ${stackOf(error)}`);
  return c.json({ detail: 'Internal error. See the server log.' }, 500);
}

/** Adapts the OpenAPI document to the configuration: without disabled paths, with the schemes of `auth.openapi`. */
function describedAs(
  document: OpenApiDocument,
  http: HttpConfig,
  auth: AuthConfig | null | undefined,
): OpenApiDocument {
  const { securitySchemes = {}, security, paths: own = {} } = auth?.openapi ?? {};
  const paths = Object.entries(document.paths).filter(([path]) => disabledBy(http, path) === undefined);
  for (const [path, methods] of paths) {
    for (const [method, operation] of Object.entries(methods)) {
      const required = memberOf(own[path], method) ?? memberOf(own[path], method.toUpperCase()) ?? security;
      const isOpen = accessOf(method.toUpperCase(), path).does === 'open';
      if (required !== undefined && !isOpen) operation['security'] = required;
    }
  }
  Object.assign(document.components.securitySchemes, securitySchemes);
  return { ...document, paths: Object.fromEntries(paths) };
}
