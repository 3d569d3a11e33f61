import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isObject } from '../../contract/json-object.ts';
import {
  Refusal,
  type Answer,
  type ApiCall,
  type Exchange,
  type JsonObject,
  type RequestLine,
  type Who,
} from './exchange.ts';
import { gitAddress, GitBackend } from './git/backend.ts';
import { routeOf } from './routes.ts';
import { identify, repositoryUrl, type Site } from './site.ts';

/**
 * What is done to a request before it is answered, in tests of what goes wrong: an answer in its place, the answer
 * lost after its effect, or the connection closed before it.
 */
export type Interference = (call: ApiCall) => Answer | 'lose' | 'close' | undefined;

export interface ServerSettings {
  /** Undefined while everything starts. */
  site: () => Site | undefined;
  log: RequestLine[];
  onExchange: (exchange: Exchange) => void;
  interfere: () => Interference | undefined;
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
  if (address) return site.names.keep(() => git.handle(site, request, response, address));
  const sent = await bodyOf(request);
  return site.names.keep(() => answerApi(settings, site, request, response, { url, sent }));
}

async function answerApi(
  settings: ServerSettings,
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  { url, sent }: { url: URL; sent: string },
): Promise<void> {
  const call = await read(site, request, url, sent);
  if ('answer' in call) return write(response, call.answer);
  const done = settings.interfere()?.(call.call);
  if (done === 'close') return void request.socket.destroy();
  const answer = typeof done === 'object' ? done : await call.handle();
  const { method, template, who } = call.call;
  const installation = who.kind === 'installation' ? { installationId: who.installationId } : {};
  settings.log.push({ method, template, status: answer.status, at: site.clock.now(), ...installation });
  settings.onExchange({ call: call.call, answer });
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
  const route = routeOf(method, path);
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
