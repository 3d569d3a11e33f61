import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gitEnvironment } from './run-git.ts';

/** A request of git's smart protocol: `info/refs`, `git-upload-pack` (clone and fetch), `git-receive-pack` (push). */
export interface GitRequest {
  /** The folder that holds the bare repository. */
  repository: string;
  /** What comes after the repository in the path, as in `/info/refs`. */
  rest: string;
  /** The query, without the question mark. */
  query: string;
  /** The person who pushes, if known. */
  login?: string;
}

/**
 * Responds with the machine's `git http-backend`, a CGI program: headers in variables, the body unchanged.
 *
 * @param beforeEnd runs after git has exited and before the response ends, so that a push returns when all is processed.
 */
export async function answerGit(
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
