import { Hono } from 'hono';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { admit } from '../keys/admit.ts';
import type { KeyBook } from '../keys/admit.ts';
import type { Actor } from '../store/audit.ts';
import type { OurControlService } from '../service.ts';
import { interfaceVersion } from '../openapi/document.ts';
import { answerError } from './send-response.ts';
import { docsRoutes } from './docs.ts';
import type { Env } from './env.ts';
import { keyRoutes } from './keys.ts';
import { deploymentRoutes } from './deployments.ts';
import { listenerWorkRoutes } from './listener-work.ts';
import { logRoutes } from './logs.ts';
import { projectRoutes } from './projects.ts';
import { onlyMethods } from './refusing.ts';
import { runsIntakeRoutes, tracingRoutes } from './tracing-projects.ts';
import type { RunsIntake } from './tracing-projects.ts';
import { integrationRoutes } from './integrations.ts';
import { putRoutes, uploadRoutes } from './uploads.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** The dependencies of the app. */
export interface AppSettings {
  /** The service of a tenant, for one caller. */
  serviceFor: (tenantId: string, by: Actor) => OurControlService;
  findKey: KeyBook['findKey'];
  /** Called with every accepted key. */
  noteKeyUse?: KeyBook['noteKeyUse'];
  /** The default spelling of responses. */
  fieldNames: FieldSpelling;
  log: (message: string) => void;
  /** Aborts when the service ends: streams of logs end then. */
  leaving?: AbortSignal | undefined;
  /** Receives source tarballs; without it there are no uploads. */
  uploads?: Uploads | undefined;
  /** Receives the runs of agents; without it there is no endpoint for them. */
  runs?: RunsIntake | undefined;
}

/** The control service over HTTP (control-service.md, Endpoints). Only `/ok`, `/info`, the OpenAPI description and its page
 * need no key; uploads need a signed address. */
export function createApp({
  serviceFor,
  findKey,
  noteKeyUse,
  fieldNames,
  log,
  leaving,
  uploads,
  runs,
}: AppSettings): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error, context) => answerError(context, error, log));
  app.notFound((context) => context.json({ detail: 'Not Found' }, 404));
  app.use(async (context, next) => {
    await next();
    // Deployments contain secrets: no cache may store the responses.
    if (!context.res.headers.has('Cache-Control')) context.header('Cache-Control', 'no-store');
  });

  app.get('/ok', (context) => context.json({ ok: true }));
  app.all('/ok', onlyMethods('GET'));
  app.get('/info', (context) =>
    context.json({ service: 'landfall control service', version: interfaceVersion, idempotency_keys: true }),
  );

  app.all('/info', onlyMethods('GET'));
  app.route('/', docsRoutes(fieldNames));

  // Agents have no API key: their project's token is valid for this route only.
  if (runs) app.route('/', runsIntakeRoutes(runs));
  for (const paths of ['/v1/*', '/v2/*', '/deployments/*']) {
    app.use(paths, async (context, next) => {
      const caller = await admit((name) => context.req.header(name), { findKey, noteKeyUse });
      if (caller.kind === 'refused') return context.json({ detail: caller.detail }, caller.status);
      context.set('service', serviceFor(caller.tenantId, caller.by));
      return next();
    });
  }
  app.route('/', deploymentRoutes(fieldNames));
  app.route('/', uploadRoutes());
  if (uploads) app.route('/', putRoutes(uploads));
  app.route('/', projectRoutes());
  app.route('/', tracingRoutes());
  app.route('/', logRoutes(leaving));
  app.route('/', integrationRoutes());
  app.route('/', keyRoutes());
  app.route('/', listenerWorkRoutes());
  return app;
}
