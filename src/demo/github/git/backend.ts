import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { changesBetween, deliverPush } from '../events/push-events.ts';
import { identify, permits, repositoryNamed, type Repository, type Site } from '../site.ts';
import { readRefs, gitEnvironment } from './commits.ts';

/** The parts of an address of git's smart protocol: the repository, what comes after it, and the query. */
interface GitAddress {
  name: string;
  /** `/info/refs`, `/git-upload-pack` (clone and fetch) or `/git-receive-pack` (push). */
  rest: string;
  query: string;
}

/** The address of a request of git, or undefined for any other request. */
export function gitAddress({ pathname, search }: URL): GitAddress | undefined {
  const found = /^\/([^/]+\/[^/]+?)(?:\.git)?(\/info\/refs|\/git-upload-pack|\/git-receive-pack)$/.exec(pathname);
  return found ? { name: found[1] ?? '', rest: found[2] ?? '', query: search.slice(1) } : undefined;
}

/** The last push to each repository: they go one after another, so that what each changed is known. */
const pushes = new WeakMap<Repository, Promise<void>>();

/** Answers a request of git over HTTP. A push returns when all its events are on their way. */
export async function answerGit(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  at: GitAddress,
): Promise<void> {
  const repository = repositoryNamed(site, at.name);
  const who = await identify(site, request.headers['authorization']);
  const level = at.rest === '/git-receive-pack' || at.query === 'service=git-receive-pack' ? 'write' : 'read';
  if (!repository || who.kind === 'unknown' || !(await permits(site, who, repository, 'contents', level))) {
    request.resume();
    // git prompts for a name only after a 401.
    const isKnown = who.kind !== 'unknown' && who.kind !== 'anonymous';
    const challenge = isKnown ? {} : { 'www-authenticate': 'Basic realm="GitHub"' };
    response.writeHead(isKnown ? (repository ? 403 : 404) : 401, challenge).end();
    return;
  }
  if (at.rest !== '/git-receive-pack') return respond(response, await runBackend(repository, at, request));
  const login = who.kind === 'person' ? who.login : undefined;
  const former = pushes.get(repository);
  const push = (async () => {
    await former;
    const before = await readRefs(repository.folder);
    const printed = await runBackend(repository, at, request);
    try {
      await deliverPush(site, repository, changesBetween(before, await readRefs(repository.folder)), login);
    } finally {
      // git has moved the refs, whatever becomes of the events.
      respond(response, printed);
    }
  })();
  pushes.set(
    repository,
    push.catch(() => undefined),
  );
  return push;
}

/** What the machine's `git http-backend` prints, a CGI program: headers in variables, the body unchanged. */
async function runBackend({ folder }: Repository, { rest, query }: GitAddress, request: IncomingMessage) {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROJECT_ROOT: folder,
      PATH_INFO: rest,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: header('content-type'),
      CONTENT_LENGTH: header('content-length'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // git may answer before it has read everything, and leave; so may the caller.
  child.stdin.on('error', () => child.stdin.destroy());
  request.on('error', () => child.stdin.destroy()).pipe(child.stdin);
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  const [printed] = await Promise.all([buffer(child.stdout), ended]);
  return printed;
}

function respond(response: ServerResponse, printed: Buffer): void {
  const end = printed.indexOf('\r\n\r\n');
  if (end < 0) return void response.writeHead(500).end();
  let status = 200;
  for (const line of printed.subarray(0, end).toString().split('\r\n')) {
    const [name = '', ...value] = line.split(':');
    if (name.toLowerCase() === 'status') status = Number.parseInt(value.join(':'), 10);
    else response.setHeader(name, value.join(':').trim());
  }
  response.writeHead(status).end(printed.subarray(end + 4));
}
