/** An in-memory Kubernetes API server on loopback: the part of the API that applying and following objects needs. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../../src/kit/json-object.ts';
import { clusterState, Refusal, resources, type Change, type ClusterState, type Stored } from './cluster-state.ts';
import { controller, type Controller } from './controller.ts';

/** Faults to inject, in order; each counts down as it is used. */
export interface Fault {
  method?: string;
  /** A part of the path. */
  path?: string;
  times: number;
  how:
    | { kind: 'status'; code: number; reason: string; message: string; retryAfter?: number }
    | { kind: 'page'; code: number }
    | { kind: 'reset' }
    | { kind: 'silent' };
}

/** A received request. */
export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  contentType: string | undefined;
  body: unknown;
}

/** The API server, its cluster's controllers and its memory. */
export interface ApiServer {
  url: string;
  state: ClusterState;
  controller: Controller;
  faults: Fault[];
  seen: Seen[];
  /** Verbs that the account may not use, as in `list secrets`. */
  forbidden: Set<string>;
  /** Changes up to here are gone: an older watch gets 410. */
  forget(): void;
  /** The path of a kubeconfig for it. */
  kubeconfig: string;
  /** Its bearer token: a secret. */
  token: string;
  /** An object of the cluster, or undefined. */
  find(resource: string, namespace: string, name: string): Stored | undefined;
  close(): Promise<void>;
}

/** Starts a cluster with some namespaces. */
export async function startApiServer(namespaces: readonly string[] = ['default']): Promise<ApiServer> {
  const token = 'token-of-the-cluster-account';
  const watchers = new Set<(change: Change) => void>();
  const state = clusterState((change) => watchers.forEach((report) => report(change)));
  const control = controller(state);
  const faults: Fault[] = [];
  const seen: Seen[] = [];
  const forbidden = new Set<string>();
  /** Pods whose workload is gone and that are still terminating. */
  const ending: Stored[] = [];
  let oldest = 0;
  for (const name of namespaces) state.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      const known = error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error));
      refuse(response, known);
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://cluster');
    const query = Object.fromEntries(url.searchParams);
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const method = request.method ?? '';
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    seen.push({ method, path: url.pathname, query, contentType: request.headers['content-type'], body });
    if (await broken(method, url.pathname, response)) return;
    if (request.headers.authorization !== `Bearer ${token}`) throw new Refusal(401, 'Unauthorized', 'Unauthorized');
    route(method, url.pathname, query, body, request.headers['content-type'], response);
  }

  async function broken(method: string, path: string, response: ServerResponse): Promise<boolean> {
    const fault = faults.find(
      (one) => one.times > 0 && (one.method ?? method) === method && path.includes(one.path ?? ''),
    );
    if (!fault) return false;
    fault.times -= 1;
    const { how } = fault;
    if (how.kind === 'reset') response.socket?.destroy();
    if (how.kind === 'page') response.writeHead(how.code, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    if (how.kind === 'silent') await once(response, 'close');
    if (how.kind === 'status') refuse(response, new Refusal(how.code, how.reason, how.message), how.retryAfter);
    return true;
  }

  function route(
    method: string,
    path: string,
    query: Record<string, string>,
    body: unknown,
    contentType: string | undefined,
    response: ServerResponse,
  ): void {
    const found = /^\/(?:api\/v1|apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(\/log)?$/.exec(
      path,
    );
    const home = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path);
    const [, group = 'v1', namespace, resource = '', name, log] = found ?? [];
    if (home?.[1] !== undefined) {
      may('get', 'namespaces');
      return send(response, 200, state.get('namespaces', undefined, decodeURIComponent(home[1])));
    }
    const known = resources[resource];
    if (!known || known.apiVersion !== group)
      throw new Refusal(404, 'NotFound', 'the server could not find the requested resource');
    if (log) return sendLog(response, decodeURIComponent(name ?? ''), query);
    if (name === undefined)
      return query['watch'] ? watch(response, resource, query) : list(response, resource, namespace, query);
    const verb = { GET: 'get', PATCH: 'patch', DELETE: 'delete' }[method];
    if (!verb)
      throw new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    may(verb, resource);
    if (verb === 'get') {
      control.advance(state.get(resource, namespace, name));
      return send(response, 200, state.get(resource, namespace, name));
    }
    if (verb === 'delete') {
      const gone = state.remove(resource, namespace, name);
      if (query['propagationPolicy'] !== 'Orphan') collect(gone);
      return send(response, 200, { apiVersion: 'v1', kind: 'Status', status: 'Success' });
    }
    if (contentType !== 'application/apply-patch+yaml')
      throw new Refusal(415, 'UnsupportedMediaType', 'only server-side apply is played');
    if (!query['fieldManager']) throw new Refusal(400, 'BadRequest', 'fieldManager is required for apply patch');
    if (!isObject(body) || body['kind'] !== known.kind || body['apiVersion'] !== known.apiVersion) {
      throw new Refusal(400, 'BadRequest', 'the API version in the data does not match the expected API version');
    }
    const meta = isObject(body['metadata']) ? body['metadata'] : {};
    if (meta['name'] !== name || meta['namespace'] !== namespace)
      throw new Refusal(400, 'BadRequest', 'the name does not match');
    state.get('namespaces', undefined, namespace ?? '');
    const strict = query['fieldValidation'] === 'Strict';
    const { object, isNew } = state.apply(resource, body, query['fieldManager'], query['force'] === 'true', strict);
    send(response, isNew ? 201 : 200, object);
  }

  function may(verb: string, resource: string): void {
    if (!forbidden.has(`${verb} ${resource}`)) return;
    throw new Refusal(
      403,
      'Forbidden',
      `${resource} is forbidden: User "landfall" cannot ${verb} resource "${resource}"`,
    );
  }

  function list(
    response: ServerResponse,
    resource: string,
    namespace: string | undefined,
    query: Record<string, string>,
  ): void {
    may('list', resource);
    if (resource === 'pods' && ending.length > 0 && (control.slowEnd -= 1) <= 0) {
      for (const pod of ending.splice(0)) state.remove('pods', pod.metadata.namespace, pod.metadata.name);
    }
    const items = state.list(resource, namespace).filter((object) => isSelected(object, query));
    // Like the real server: items of a list carry no kind.
    const plain = items.map(({ apiVersion: _version, kind: _kind, ...rest }) => rest);
    send(response, 200, {
      apiVersion: resources[resource]?.apiVersion,
      kind: `${resources[resource]?.kind}List`,
      metadata: { resourceVersion: String(state.version()) },
      items: plain,
    });
  }

  function watch(response: ServerResponse, resource: string, query: Record<string, string>): void {
    may('watch', resource);
    const since = Number(query['resourceVersion'] ?? state.version());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (since < oldest) {
      const object = statusOf(new Refusal(410, 'Expired', `too old resource version: ${since} (${oldest})`));
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    const report = (change: Change): void => {
      if (change.resource !== resource || change.version <= since || !isSelected(change.object, query)) return;
      response.write(`${JSON.stringify({ type: change.type, object: change.object })}\n`);
    };
    state.changes.forEach(report);
    watchers.add(report);
    response.once('close', () => watchers.delete(report));
  }

  function sendLog(response: ServerResponse, pod: string, query: Record<string, string>): void {
    may('get', 'pods/log');
    const text = control.log(pod, query['container'] ?? '');
    if (text === undefined)
      throw new Refusal(400, 'BadRequest', `container "${query['container']}" in pod "${pod}" is waiting to start`);
    const lines = text.split('\n');
    response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(lines.slice(-Number(query['tailLines'] ?? lines.length) - 1).join('\n'));
  }

  /** Deletes what the deleted workload owned. */
  function collect({ metadata, kind }: Stored): void {
    if (kind !== 'Deployment' && kind !== 'StatefulSet') return;
    for (const pod of state.list('pods', metadata.namespace)) {
      if (pod.metadata['generateName'] !== `${metadata.name}-`) continue;
      if (control.slowEnd > 0) ending.push(pod);
      else state.remove('pods', metadata.namespace, pod.metadata.name);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  const folder = mkdtempSync(join(tmpdir(), 'landfall-kube-'));
  const kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, JSON.stringify(configFor(url, token)));

  return {
    url,
    state,
    controller: control,
    faults,
    seen,
    forbidden,
    forget: () => void (oldest = state.version()),
    kubeconfig,
    token,
    find: (resource, namespace, name) =>
      state.list(resource, namespace).find((object) => object.metadata.name === name),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

/** A kubeconfig in JSON, which is valid YAML. The client needs to know that missing TLS is intended. */
const configFor = (server: string, token: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'loopback', cluster: { server, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'landfall', user: { token } }],
  contexts: [{ name: 'loopback', context: { cluster: 'loopback', user: 'landfall', namespace: 'default' } }],
  'current-context': 'loopback',
});

const statusOf = ({ code, reason, message }: Refusal, retryAfter?: number): object => ({
  apiVersion: 'v1',
  kind: 'Status',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  code,
});

function refuse(response: ServerResponse, refusal: Refusal, retryAfter?: number): void {
  send(response, refusal.code, statusOf(refusal, retryAfter));
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Whether an object matches the selectors of a query: labels by equality, fields by path. */
function isSelected(object: Stored, query: Record<string, string>): boolean {
  const terms = (text: string | undefined): [string, string][] =>
    (text ?? '')
      .split(',')
      .filter((term) => term !== '')
      .map((term) => [term.slice(0, term.indexOf('=')), term.slice(term.indexOf('=') + 1)]);
  const byLabel = terms(query['labelSelector']).every(([key, value]) => object.metadata.labels[key] === value);
  const at = (path: string): unknown =>
    path.split('.').reduce<unknown>((here, field) => (isObject(here) ? here[field] : undefined), object);
  return byLabel && terms(query['fieldSelector']).every(([path, value]) => at(path) === value);
}
