import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { changesBetween, deliverPush } from '../events/push-events.ts';
import { identify, permits, findRepository, type Repository, type GitHubState } from '../state.ts';
import { readRefs, gitEnvironment } from './commits.ts';

/** The parts of an address of git's smart HTTP protocol. */
interface GitAddress {
  /** The repository as `owner/name`. */
  name: string;
  /** `/info/refs`, `/git-upload-pack` (clone and fetch) or `/git-receive-pack` (push). */
  endpoint: string;
  query: string;
}

/** Parses the address of a request of git; undefined for any other request. */
export function gitAddress({ pathname, search }: URL): GitAddress | undefined {
  const found = /^\/([^/]+\/[^/]+?)(?:\.git)?(\/info\/refs|\/git-upload-pack|\/git-receive-pack)$/.exec(pathname);
  return found ? { name: found[1] ?? '', endpoint: found[2] ?? '', query: search.slice(1) } : undefined;
}

/** The last push to each repository. Pushes run one after another, so that the changes of each are known. */
const pushes = new WeakMap<Repository, Promise<void>>();

/** Answers a request of git over HTTP. A push resolves when all its events have been sent off. */
export async function answerGit(
  state: GitHubState,
  request: IncomingMessage,
  response: ServerResponse,
  address: GitAddress,
): Promise<void> {
  const repository = findRepository(state, address.name);
  const who = await identify(state, request.headers['authorization']);
  const level =
    address.endpoint === '/git-receive-pack' || address.query === 'service=git-receive-pack' ? 'write' : 'read';
  if (!repository || who.kind === 'unknown' || !(await permits(state, who, repository, 'contents', level))) {
    request.resume();
    // git prompts for a name only after a 401.
    const isKnown = who.kind !== 'unknown' && who.kind !== 'anonymous';
    const challenge = isKnown ? {} : { 'www-authenticate': 'Basic realm="GitHub"' };
    response.writeHead(isKnown ? (repository ? 403 : 404) : 401, challenge).end();
    return;
  }
  if (address.endpoint !== '/git-receive-pack')
    return respond(response, await runBackend(repository, address, request));
  const login = who.kind === 'person' ? who.login : undefined;
  const previousPush = pushes.get(repository);
  const push = (async () => {
    await previousPush;
    const before = await readRefs(repository.folder);
    const output = await runBackend(repository, address, request);
    try {
      await deliverPush(state, repository, changesBetween(before, await readRefs(repository.folder)), login);
    } finally {
      // git has moved the refs, even if sending the events failed.
      respond(response, output);
    }
  })();
  pushes.set(
    repository,
    push.catch(() => undefined),
  );
  return push;
}

/** Runs the CGI program `git http-backend`, and returns its output: headers, an empty line, the body. */
async function runBackend({ folder }: Repository, { endpoint, query }: GitAddress, request: IncomingMessage) {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROJECT_ROOT: folder,
      PATH_INFO: endpoint,
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
  // git may respond and exit before it has read everything, and the caller may disconnect.
  child.stdin.on('error', () => child.stdin.destroy());
  request.on('error', () => child.stdin.destroy()).pipe(child.stdin);
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  const [output] = await Promise.all([buffer(child.stdout), ended]);
  return output;
}

function respond(response: ServerResponse, output: Buffer): void {
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) return void response.writeHead(500).end();
  let status = 200;
  for (const line of output.subarray(0, end).toString().split('\r\n')) {
    const [name = '', ...value] = line.split(':');
    if (name.toLowerCase() === 'status') status = Number.parseInt(value.join(':'), 10);
    else response.setHeader(name, value.join(':').trim());
  }
  response.writeHead(status).end(output.subarray(end + 4));
}
