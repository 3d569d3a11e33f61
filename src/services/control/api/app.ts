import { Hono } from 'hono';
import { backgroundHeader } from '../../../contract/control/session.ts';
import type { ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import type { FieldSpelling } from '../../../contract/control/aliases.ts';
import type { OpenApiDocument } from '../../../kit/http/openapi.ts';
import { mountOperations, refuseOtherMethods } from '../../../kit/http/operation.ts';
import { admit, type KeyBook } from '../api-keys/admit.ts';
import type { OurControlService } from '../service.ts';
import type { Actor } from '../store/audit.ts';
import { openApiDocument } from './document.ts';
import type { ApiSettings, Env } from './operation.ts';
import { operations } from './operations.ts';
import { mountConsole, type ConsoleAddress } from '../console/serve.ts';
import { mountGuide } from '../guide/serve.ts';
import { sendError } from './response.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface AppSettings extends Omit<ApiSettings, 'describe'>, Omit<KeyBook, 'admitSession'> {
  console?: ConsoleAddress;
  /** The service of a tenant, for one caller. */
  serviceFor: (tenantId: string, by: Actor, scopes: readonly ApiKeyScope[]) => OurControlService;
  log: Logger;
}

/** The control service over HTTP (docs/design/contract.md#endpoints). Open operations need no key. */
export function createApp({ serviceFor, findKey, noteKeyUse, log, console, ...settings }: AppSettings): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error, context) => sendError(context, error, log));
  app.notFound((context) => context.json({ detail: 'Not Found' }, 404));
  const documents = new Map<FieldSpelling, OpenApiDocument>();
  const describe = (spelling: FieldSpelling): OpenApiDocument => {
    const document = documents.get(spelling) ?? openApiDocument(spelling);
    documents.set(spelling, document);
    return document;
  };
  app.use(async (context, next) => {
    context.set('settings', { ...settings, describe });
    await next();
    // Deployments contain secrets: no cache may store the responses.
    if (!context.res.headers.has('Cache-Control')) context.header('Cache-Control', 'no-store');
  });

  const [open, closed] = [operations.filter(({ open }) => open), operations.filter(({ open }) => !open)];
  mountGuide(app);
  mountOperations(app, open);
  mountConsole(app, console);
  for (const paths of ['/v1/*', '/v2/*', '/deployments/*']) {
    app.use(paths, async (context, next) => {
      const { method } = context.req;
      const book = { findKey, noteKeyUse, admitSession: settings.sessions?.admit };
      const use = { method, isSafe: method === 'GET' || method === 'HEAD' };
      const header = (name: string): string | undefined => context.req.header(name);
      const caller = await admit(header, book, use);
      if (caller.kind === 'refused') return context.json({ detail: caller.detail }, caller.status);
      context.set('service', serviceFor(caller.tenantId, caller.by, caller.scopes));
      context.set('scopes', caller.scopes);
      context.set('session', caller.session);
      context.set('isStillAdmitted', async () => {
        const again = await admit((name) => (name === backgroundHeader ? 'true' : header(name)), book, use);
        return again.kind === 'tenant' && again.tenantId === caller.tenantId;
      });
      return next();
    });
  }
  mountOperations(app, closed);
  refuseOtherMethods(app, operations);
  return app;
}
