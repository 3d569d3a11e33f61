import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isObject } from '../../contract/json-object.ts';
import { type Answer, type ApiCall, type JsonObject, Refusal, type Who } from './exchange.ts';
import { gitAddress, GitBackend } from './git/backend.ts';
import { identify, repositoryUrl, type Handler, type Operation, type Site } from './site.ts';
import * as app from './answers/app.ts';
import * as checks from './answers/checks.ts';
import * as deployments from './answers/deployments.ts';
import * as git from './answers/git.ts';
import { getPermission, getRepository } from './answers/repositories.ts';

export interface ServerSettings {
  /** Undefined while everything starts. */
  site: () => Site | undefined;
  /** Called with what went wrong in the gateway itself. */
  onError: (error: unknown) => void;
}

/** The server for everything: the API and git. */
export function createGateway(settings: ServerSettings): Server {
  const git = new GitBackend();
  return createServer((request, response) => {
    handle(settings, git, request, response).catch((error: unknown) => {
      settings.onError(error);
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: error instanceof Error ? error.message : String(error) }));
    });
  });
}

async function handle(
  settings: ServerSettings,
  git: GitBackend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const site = settings.site();
  if (!site) return write(response, { status: 503, body: { message: 'Starting' } });
  const url = new URL(request.url ?? '/', site.url);
  const address = gitAddress(url);
  if (address) return site.extension.around(() => git.handle(site, request, response, address));
  const sent = await bodyOf(request);
  return site.extension.around(() => answerApi(site, request, response, { url, sent }));
}

async function answerApi(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  { url, sent }: { url: URL; sent: string },
): Promise<void> {
  const call = await read(site, request, url, sent);
  if ('answer' in call) return write(response, call.answer);
  const done = site.extension.interfere?.(call.call);
  if (done === 'close') return void request.socket.destroy();
  const answer = typeof done === 'object' ? done : await call.handle();
  site.extension.answered?.({ call: call.call, answer });
  if (done === 'lose') return void request.socket.destroy();
  write(response, answer);
}

async function read(
  site: Site,
  request: IncomingMessage,
  url: URL,
  sent: string,
): Promise<{ answer: Answer } | { call: ApiCall; handle: () => Promise<Answer> }> {
  const method = request.method ?? 'GET';
  const moved = movedTo(site, url.pathname);
  if (moved !== undefined) {
    const location = `${site.url}${moved}${url.search}`;
    return {
      answer: {
        status: method === 'GET' ? 301 : 307,
        headers: { location },
        body: { message: 'Moved Permanently', url: location },
      },
    };
  }
  const path = ofId(site, url.pathname);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  let who: Who = { kind: 'anonymous' };
  let refused: Answer | undefined;
  try {
    who = await identify(site, headers['authorization']);
  } catch (error) {
    refused = refusalOf(error);
  }
  const route = routeOf(method, path, site.extension.operations);
  const { template, params } = route ?? { template: path, params: {} };
  const call = { method, path, template, params, query: url.searchParams, headers, sent, body: objectOf(sent), who };
  return {
    call,
    async handle() {
      if (refused) return refused;
      if (!route) return new Refusal(404, 'Not Found').answer;
      try {
        return await route.handler(call, site);
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

function refusalOf(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer;
  throw error;
}

/** A renamed repository's new address, by its id, which never changes. */
function movedTo(site: Site, path: string): string | undefined {
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? [];
  if (name === '' || site.repositories.byName(name)) return undefined;
  const repository = site.repositories.byAnyName(name);
  return repository && `/repositories/${repository.id}${rest}`;
}

/** `/repositories/{id}` is the repository's path under whatever name. */
function ofId(site: Site, path: string): string {
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const repository = id === undefined ? undefined : site.repositories.byId(Number(id));
  return repository ? `${repositoryUrl({ url: '' }, repository)}${rest}` : path;
}

function objectOf(sent: string): JsonObject {
  if (sent === '') return {};
  try {
    const read: unknown = JSON.parse(sent);
    return isObject(read) ? read : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function write(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const bytes = body instanceof Buffer ? body : body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, {
    ...type,
    'x-github-request-id': `DEMO:${Math.floor(performance.now())}`,
    'x-github-media-type': 'github.v3; format=json',
    ...headers,
  });
  response.end(bytes);
}

const repo = '/repos/{owner}/{repo}';

/** Every operation, in GitHub's spelling. Where two fit a path the first counts. */
const operations: readonly Operation[] = [
  ['GET', '/app', app.getApp],
  ['GET', '/app/hook/deliveries', app.listDeliveries],
  ['POST', '/app/hook/deliveries/{delivery_id}/attempts', app.attemptDelivery],
  ['GET', '/app/installations', app.listInstallations],
  ['POST', '/app/installations/{installation_id}/access_tokens', app.createToken],
  ['GET', '/installation/repositories', app.installationRepositories],
  ['DELETE', '/installation/token', app.endToken],
  ['GET', `${repo}/branches/{branch}`, git.getBranch],
  ['POST', `${repo}/check-runs`, checks.createRun],
  ['GET', `${repo}/check-runs/{check_run_id}`, checks.getRun],
  ['PATCH', `${repo}/check-runs/{check_run_id}`, checks.updateRun],
  ['GET', `${repo}/check-runs/{check_run_id}/annotations`, checks.listAnnotations],
  ['GET', `${repo}/collaborators/{username}/permission`, getPermission],
  ['GET', `${repo}/commits/{ref}/check-runs`, checks.listRuns],
  ['GET', `${repo}/compare/{basehead}`, git.compare],
  ['GET', `${repo}/contents/{path}`, git.getContents],
  ['GET', `${repo}/deployments`, deployments.listDeployments],
  ['POST', `${repo}/deployments`, deployments.createDeployment],
  ['GET', `${repo}/deployments/{deployment_id}/statuses`, deployments.listDeploymentStatuses],
  ['POST', `${repo}/deployments/{deployment_id}/statuses`, deployments.createDeploymentStatus],
  ['GET', repo, getRepository],
];

/** Parts of a path that may hold slashes. */
const long = new Set(['ref', 'basehead', 'branch', 'path']);

const patternOf = ([method, template, handler]: Operation) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = template.replace(/\{(\w+)\}/g, (_, name: string) => (long.has(name) ? '(.+)' : '([^/]+)'));
  return { method, template, handler, names, pattern: new RegExp(`^${source}/?$`) };
};

const patterns = operations.map(patternOf);

/** An operation found for a request. */
interface Route {
  template: string;
  params: Record<string, string>;
  handler: Handler;
}

/** Finds the operation of a request by its method and path; undefined for what this GitHub does not know. */
export function routeOf(method: string, path: string, further: readonly Operation[] = []): Route | undefined {
  for (const { method: wanted, template, handler, names, pattern } of [...patterns, ...further.map(patternOf)]) {
    const found = wanted === method ? pattern.exec(path) : null;
    if (!found) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]));
    return { template, params, handler };
  }
  return undefined;
}
