import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { Validator } from '@cfworker/json-schema';
import { Hono, type Context } from 'hono';
import * as z from 'zod';
import { isObject } from '../../../src/kit/json-object.ts';
import { publicDocument } from '../../services/control/api/public-document.ts';
import { namedSchemas, problemsOf, publicOperations, type PublicOperation } from './public-answers.ts';
import {
  moment,
  Refused,
  repository,
  StandInState,
  write,
  type StandInSettings,
  type Write,
} from './stand-in-state.ts';

/** A stand-in of the public control service, in memory: its requests and responses are those of the public document. */
export interface PublicStandIn extends AsyncDisposable {
  url: string;
  /** Fields of requests that the document does not have: the service ignores them. */
  unknownFields: string[];
  uploads: Buffer[];
  /** Mistakes of the stand-in itself: a response that is not as documented. */
  mistakes: string[];
  /** What it keeps; its settings may be changed while it runs. */
  state: StandInState;
}

export const key = 'key-of-the-public-service';
const integration = { id: randomUUID(), installation_id: 7, name: 'acme' };
const reachable = {
  host_integration_id: integration.id,
  id: 1,
  name: 'echo',
  owner: 'acme',
  url: repository,
  default_branch: 'main',
};
const listener = {
  id: randomUUID(),
  version: null,
  compute_type: 'k8s',
  compute_id: 'cluster',
  compute_config: { k8s_namespaces: ['default'] },
  created_at: moment,
  updated_at: moment,
};

const one = '/v2/deployments/{deployment_id}';
const idIn = (context: Context) => context.req.param('deployment_id') ?? '';
const revisionIdIn = (context: Context) => context.req.param('revision_id') ?? '';

/** Starts it on loopback. */
export async function startPublicStandIn(settings: StandInSettings = {}): Promise<PublicStandIn> {
  const state = new StandInState(settings);
  const unknownFields: string[] = [];
  const uploads: Buffer[] = [];
  const mistakes: string[] = [];
  const app = new Hono();
  app.onError((error, context) => {
    if (error instanceof Refused) return context.json({ detail: error.detail }, error.status);
    mistakes.push(error.message);
    return context.json({ detail: 'A mistake of the stand-in' }, 501);
  });
  app.get('/openapi.json', (context) =>
    settings.hasDocument === false ? context.notFound() : context.json(publicDocument),
  );
  app.use(async (context, next) => {
    const isStore = context.req.path.startsWith('/bucket/');
    if (!isStore && context.req.header('x-api-key') !== key) return context.json({ detail: 'Invalid API key' }, 403);
    await next();
    return undefined;
  });
  mountStore(app, state, uploads);

  /** Mounts an operation of the document; its responses must be as documented, apart from hidden secrets. */
  const mount = (
    name: string,
    handle: (context: Context, operation: PublicOperation) => unknown,
    status: 200 | 201 = 200,
  ): void => {
    const operation = publicOperations.find((each) => `${each.method} ${each.path}` === name);
    if (!operation) throw new Error(`the document has no ${name}`);
    app.on(operation.method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      const answer = JSON.stringify(await handle(context, operation));
      const isChecked = settings.hiding !== 'null' && settings.hiding !== 'unlisted';
      const problems = isChecked ? problemsOf(operation, status, JSON.parse(answer)) : [];
      if (problems.length > 0) throw new Error(problems.join('\n'));
      return context.body(answer, status, { 'content-type': 'application/json' });
    });
  };
  const bodyOf = async (context: Context, operation: PublicOperation): Promise<Write> =>
    readBody(await context.req.json(), operation, unknownFields);

  mount('GET /v1/integrations/github/install', () => [integration]);
  mount('GET /v1/integrations/github/{integration_id}/repos', () => [reachable]);
  mount('GET /v2/listeners', () => ({ resources: [listener], offset: 0 }));
  mount('GET /v2/deployments', (context) => {
    const { name_contains: part = '', limit = '20', offset = '0' } = context.req.query();
    return { resources: state.list(part, Number(offset), Number(limit)), offset: Number(offset) };
  });
  mount('POST /v2/deployments', async (...parts) => state.create(await bodyOf(...parts)), 201);
  mount(`GET ${one}`, (context) => state.read(idIn(context)));
  mount(`PATCH ${one}`, async (context, operation) => state.patch(idIn(context), await bodyOf(context, operation)));
  mount(`GET ${one}/revisions`, (context) => ({ resources: state.revisions(idIn(context)), offset: 0 }));
  mount(`GET ${one}/revisions/{revision_id}`, (context) => state.readRevision(idIn(context), revisionIdIn(context)));
  mount(`POST ${one}/revisions/{revision_id}/redeploy`, (context) =>
    state.redeploy(idIn(context), revisionIdIn(context)),
  );
  app.delete('/v2/deployments/:deployment_id', (context) => {
    state.delete(idIn(context));
    return context.body(null, 204);
  });

  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = z.object({ port: z.int() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    unknownFields,
    uploads,
    mistakes,
    state,
    [Symbol.asyncDispose]: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The signed addresses of uploads, and the object store behind them: a PUT needs exactly the signed headers. */
function mountStore(app: Hono, state: StandInState, uploads: Buffer[]): void {
  const signingKey = randomBytes(16);
  const sign = (path: string) => createHmac('sha256', signingKey).update(path).digest('hex');
  app.post('/v2/deployments/:deployment_id/upload-url', (context) => {
    state.read(idIn(context));
    const path = `uploads/${idIn(context)}/${randomUUID()}.tar.gz`;
    const query = new URLSearchParams({
      'X-Goog-Algorithm': 'GOOG4-RSA-SHA256',
      'X-Goog-Expires': '900',
      'X-Goog-SignedHeaders': 'content-type;host;x-goog-content-length-range',
      'X-Goog-Signature': sign(path),
    });
    const { origin } = new URL(context.req.url);
    return context.json({ upload_url: `${origin}/bucket/${path}?${query.toString()}`, object_path: path });
  });
  app.put('/bucket/*', async (context) => {
    const path = context.req.path.slice('/bucket/'.length);
    const refused = (code: string, message: string): Response =>
      context.body(
        `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message><StringToSign>${sign(path)}</StringToSign></Error>`,
        403,
        { 'content-type': 'application/xml' },
      );
    if (state.settings.refusesUploads) return refused('AccessDenied', 'Access denied.');
    const isSigned =
      context.req.query('X-Goog-Signature') === sign(path) &&
      context.req.header('content-type') === 'application/gzip' &&
      context.req.header('x-goog-content-length-range') === '0,209715200' &&
      context.req.header('x-api-key') === undefined;
    if (!isSigned) return refused('SignatureDoesNotMatch', 'The calculated signature does not match.');
    uploads.push(Buffer.from(await context.req.arrayBuffer()));
    state.uploaded.add(path);
    return context.body(null, 200);
  });
}

const withDefinitions = (schema: unknown): Record<string, unknown> => {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
};
const $defs = withDefinitions(namedSchemas);

/** Reads a body by the document's schema: a wrong one is a 422, an unknown field is ignored and noted. */
function readBody(given: unknown, { body = {} }: PublicOperation, unknownFields: string[]): Write {
  const { errors, valid } = new Validator({ ...withDefinitions(body), $defs }, '2020-12', false).validate(given);
  if (valid) return write.parse(known(body, given, unknownFields));
  const detail = errors.map(({ instanceLocation, error }) => ({
    loc: ['body', ...instanceLocation.split('/').slice(1)],
    msg: error,
    type: 'value_error',
  }));
  throw new Refused(422, detail);
}

/** A value with the fields of its schema alone. */
function known(schema: unknown, value: unknown, unknownFields: string[]): unknown {
  if (!isObject(schema)) return value;
  const { $ref, anyOf, items, properties } = schema;
  const within = (next: unknown): unknown => known(next, value, unknownFields);
  if (typeof $ref === 'string') return within(namedSchemas[$ref.replace('#/components/schemas/', '')]);
  if (Array.isArray(anyOf)) return within(anyOf.find((each) => isObject(each) && each['type'] !== 'null'));
  if (Array.isArray(value)) return value.map((each) => known(items, each, unknownFields));
  if (!isObject(properties) || !isObject(value)) return value;
  unknownFields.push(...Object.keys(value).filter((name) => !(name in properties)));
  const fields = Object.entries(value).filter(([name]) => name in properties);
  return Object.fromEntries(fields.map(([name, each]) => [name, known(properties[name], each, unknownFields)]));
}
