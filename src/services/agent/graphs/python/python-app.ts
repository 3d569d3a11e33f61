import { AsyncLocalStorage } from 'node:async_hooks';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Logger } from '../../../../kit/logger.ts';
import { keepUser } from '../../auth/in-process-caller.ts';
import type { AppEnv, CustomApp } from '../../http/custom-app.ts';
import { keepOwnCall } from '../../http/route-groups.ts';
import { Refusal } from '../../refusal.ts';
import { WorkerGone } from './connection.ts';
import { callApp, type Changed } from './http-exchange.ts';
import type { GraphHost } from './run-workers.ts';

interface PythonAppDependencies {
  host: GraphHost;
  log: Logger;
}

/** The application of an agent in Python. @param isMounted whether our own routes are behind its middleware. */
export const pythonApp = (dependencies: PythonAppDependencies, { isMounted }: { isMounted: boolean }): CustomApp =>
  isMounted
    ? { before: new Hono<AppEnv>().use(around(dependencies)), after: undefined }
    : {
        before: undefined,
        after: async (request, known) =>
          (await callApp(dependencies, { request, ...known, isUnknown: true })) ?? new Response(null, { status: 404 }),
      };

function around(dependencies: PythonAppDependencies): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    // What probes it asks about the server, also while a worker starts.
    if (c.req.path === '/ok') return next();
    // Who answers the worker is called from its connection.
    const inContext = AsyncLocalStorage.snapshot();
    let isOurs = false;
    const callOurs = async (changed: Changed) => {
      change(c.req, changed);
      await next();
      const isUnknown = c.get('isUnknown') === true;
      isOurs = !isUnknown;
      return { response: c.res, isUnknown };
    };
    const asked = { request: c.req.raw, user: c.get('authUser'), upgrade: c.env.upgrade, isUnknown: false };
    const called = callApp(dependencies, { ...asked, next: (changed) => inContext(callOurs, changed) });
    let response = await called.catch((error: unknown) => {
      if (error instanceof WorkerGone && isOurs && mayHaveChanged(c.req.method, c.res)) throw new ResponseLost(c.res);
      throw error;
    });
    if (!response) {
      await next();
      if (c.get('isUnknown') !== true || asked.upgrade) return;
      response = await callApp(dependencies, { ...asked, isUnknown: true });
    }
    // It has the headers of our response already, as the agent's middleware leaves them.
    if (isOurs) c.res = undefined;
    c.res = response;
  };
}

const mayHaveChanged = (method: string, { status }: Response): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method) && status < 400;

/** What was asked is done, so that asking again would do it twice; what the middleware has not seen is not shown. */
class ResponseLost extends Refusal {
  constructor({ headers }: Response) {
    const places = ['content-location', 'location'].flatMap((name): [string, string][] => {
      const place = headers.get(name);
      return place === null ? [] : [[name, place]];
    });
    super(
      409,
      'The request was carried out, but the Python process of the agent has ended and with it the response. Look at what there is before you send it again.',
      new Headers(places),
    );
  }
}

/** Gives our own route the request as the agent's middleware passes it on. */
function change(place: { raw: Request }, { headers, body }: Changed): void {
  const { raw } = place;
  if (headers) {
    const former = [...raw.headers.keys()];
    for (const name of former) raw.headers.delete(name);
    for (const [name, value] of headers) raw.headers.append(name, value);
  }
  if (!body) return;
  const { method, url, signal } = raw;
  place.raw = new Request(url, { method, headers: raw.headers, signal, body: Buffer.from(body) });
  keepUser(raw, place.raw);
  keepOwnCall(raw, place.raw);
}
