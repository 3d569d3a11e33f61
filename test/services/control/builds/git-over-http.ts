import { spawn } from 'node:child_process';
import type { RequestListener } from 'node:http';

/** Serves the repositories below a folder with `git http-backend`. */
export function gitOverHttp(root: string): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'],
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.on('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      const headers = answer.subarray(0, end).toString('latin1').split('\r\n');
      const status = headers.find((line) => line.startsWith('Status:'));
      response.statusCode = status ? Number.parseInt(status.slice(7), 10) : 200;
      for (const line of headers) {
        const [name = '', value = ''] = line.split(': ');
        if (name !== 'Status') response.setHeader(name, value);
      }
      response.end(answer.subarray(end + 4));
    });
  };
}
