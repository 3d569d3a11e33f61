import { Hono } from 'hono';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { admit } from '../keys/admit.ts';
import type { KeyBook } from '../keys/admit.ts';
import type { Actor } from '../store/audit.ts';
import type { OurControlService } from '../service.ts';
import { interfaceVersion } from '../openapi/document.ts';
import { answerError } from './answer.ts';
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

/** What the app stands on. */
export interface AppSettings {
  /** The service of a tenant, for whoever asks. */
  serviceFor: (tenantId: string, by: Actor) => OurControlService;
  findKey: KeyBook['findKey'];
  /** Told of every key that was let in. */
  noteKeyUse?: KeyBook['noteKeyUse'];
  /** The spelling of answers where a request asks for none. */
  fieldNames: FieldSpelling;
  log: (message: string) => void;
  /** Aborts when the service ends: whoever follows a log is then let go of. */
  leaving?: AbortSignal | undefined;
  /** What takes source tarballs in; without it none can be put. */
  uploads?: Uploads | undefined;
  /** What takes runs of agents in; without it nobody tells any. */
  runs?: RunsIntake | undefined;
}

/** The control service over HTTP (control-service.md, Endpoints). Only `/ok`, `/info`, the description of the interface
 * and its page answer without a key; tarballs are put by the address that was handed out. */
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
    // Deployments are told with their secrets: nobody on the way may keep them.
    if (!context.res.headers.has('Cache-Control')) context.header('Cache-Control', 'no-store');
  });

  app.get('/ok', (context) => context.json({ ok: true }));
  app.all('/ok', onlyMethods('GET'));
  app.get('/info', (context) =>
    context.json({ service: 'landfall control service', version: interfaceVersion, idempotency_keys: true }),
  );

  app.all('/info', onlyMethods('GET'));
  app.route('/', docsRoutes(fieldNames));

  // Agents have no API key: their project's token lets them in, there alone.
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
