import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { roleOf } from '../answers/repositories.ts';
import { changesBetween, deliverPush } from '../events/push-events.ts';
import type { Who } from '../exchange.ts';
import type { Repository } from '../repositories.ts';
import { isGranted, whoseToken, type Site } from '../site.ts';
import { readRefs, gitEnvironment } from './commits.ts';

/** The parts of an address of git's smart protocol: the repository, what comes after it, and the query. */
export interface GitAddress {
  name: string;
  rest: string;
  query: string;
}

/** The address of a request of git, or undefined for any other request. */
export function gitAddress({ pathname, search }: URL): GitAddress | undefined {
  const found = /^\/([^/]+\/[^/]+?)(?:\.git)?(\/info\/refs|\/git-upload-pack|\/git-receive-pack)$/.exec(pathname);
  return found ? { name: found[1] ?? '', rest: found[2] ?? '', query: search.slice(1) } : undefined;
}

/** Git over HTTP. Pushes to one repository go one after another, so that what each changed is known. */
export class GitBackend {
  readonly #pushes = new Map<Repository, Promise<void>>();

  async handle(site: Site, request: IncomingMessage, response: ServerResponse, at: GitAddress): Promise<void> {
    const repository = site.repositories.byAnyName(at.name);
    const who = ofBasic(site, request.headers['authorization']);
    const isPush = at.rest === '/git-receive-pack' || at.query === 'service=git-receive-pack';
    if (!repository || !who || !(await mayUse(site, repository, who, isPush))) {
      request.resume();
      // git prompts for a name only after a 401.
      const isKnown = who !== undefined && who.kind !== 'anonymous';
      const challenge = isKnown ? {} : { 'www-authenticate': 'Basic realm="GitHub"' };
      response.writeHead(isKnown ? (repository ? 403 : 404) : 401, challenge).end();
      return;
    }
    const login = who.kind === 'person' ? who.login : undefined;
    const call = { ...at, repository: repository.folder, ...(login === undefined ? {} : { login }) };
    if (at.rest !== '/git-receive-pack') return answerGit(call, request, response, () => Promise.resolve());
    const former = this.#pushes.get(repository) ?? Promise.resolve();
    const push = (async () => {
      await former;
      const before = await readRefs(repository.folder);
      await answerGit(call, request, response, async () => {
        await deliverPush(site, repository, changesBetween(before, await readRefs(repository.folder)), login);
      });
    })();
    const ended = push.catch(() => undefined);
    this.#pushes.set(repository, ended);
    return push;
  }
}

/** Who git's own requests come from: the password of a Basic header is the token. */
function ofBasic(site: Site, authorization: string | undefined): Who | undefined {
  const encoded = /^basic\s+(\S+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return authorization === undefined ? { kind: 'anonymous' } : undefined;
  const pair = Buffer.from(encoded, 'base64').toString();
  return whoseToken(site, pair.slice(pair.indexOf(':') + 1));
}

async function mayUse(site: Site, repository: Repository, who: Who, isPush: boolean): Promise<boolean> {
  if (!isPush && !repository.isPrivate) return true;
  if (who.kind !== 'person') return isGranted(who, repository, 'contents', isPush ? 'write' : 'read');
  const role = await roleOf(site, repository, who.login);
  return isPush ? role === 'admin' || role === 'write' : role !== 'none';
}

/** A request of git: `/info/refs`, `/git-upload-pack` (clone and fetch) or `/git-receive-pack` (push). */
interface GitRequest extends Pick<GitAddress, 'rest' | 'query'> {
  /** The folder that holds the bare repository. */
  repository: string;
  /** The person who pushes, if known. */
  login?: string;
}

/**
 * Responds with the machine's `git http-backend`, a CGI program: headers in variables, the body unchanged.
 *
 * @param beforeEnd runs after git has exited and before the response ends, so that a push returns when all is processed.
 */
async function answerGit(
  { repository, rest, query, login }: GitRequest,
  request: IncomingMessage,
  response: ServerResponse,
  beforeEnd: () => Promise<void>,
): Promise<void> {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROJECT_ROOT: repository,
      PATH_INFO: rest,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: header('content-type'),
      CONTENT_LENGTH: header('content-length'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_ADDR: '127.0.0.1',
      ...(login === undefined ? {} : { REMOTE_USER: login }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // git may answer before it has read everything, and leave.
  child.stdin.on('error', () => child.stdin.destroy());
  request.pipe(child.stdin);
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  response.on('close', () => child.kill());
  let head = Buffer.alloc(0);
  let isBody = false;
  for await (const chunk of child.stdout) {
    if (isBody) {
      if (!response.write(chunk)) await drained(response);
      continue;
    }
    head = Buffer.concat([head, Buffer.from(chunk)]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) continue;
    isBody = true;
    writeHead(response, head.subarray(0, end).toString());
    response.write(head.subarray(end + 4));
  }
  await ended;
  await beforeEnd();
  if (!isBody) response.writeHead(500);
  response.end();
}

function writeHead(response: ServerResponse, text: string): void {
  const lines = text.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
  });
  const headers = new Map(lines);
  const status = Number.parseInt(headers.get('status') ?? '200', 10);
  headers.delete('status');
  response.writeHead(status, Object.fromEntries(headers));
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
