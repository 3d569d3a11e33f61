// A service in its own process that answers every GET with the same revision, so that only the client's side of a poll
// is measured. It sends its address to its parent and exits with it.
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import * as z from 'zod';

const Reply = z.object({ url: z.url() });

/** A revision in the middle of a rollout. */
const revision = {
  id: '0c1d2e3f-0000-4000-8000-000000000002',
  created_at: '2026-01-05T12:00:00Z',
  updated_at: '2026-01-05T12:00:07Z',
  status: 'BUILDING',
  source: 'github',
  source_revision_config: {
    repo_ref: 'main',
    graph_config_path: 'agents/support/graphs.json',
    image_uri: null,
    source_tarball_path: null,
    repo_commit_sha: '5f0c1c2b9d3e4a5b6c7d8e9f0a1b2c3d4e5f6a7b',
  },
  resource: { id: { type: 'revisions', name: 'support-0c1d2e3f' }, services: [{ name: 'api' }, { name: 'queue' }] },
  status_message: 'the image is being built',
  hosted_langserve_revision_id: null,
};

export interface LoopbackService extends AsyncDisposable {
  url: string;
}

/** Starts the service; it is gone when it is disposed of. */
export async function startLoopbackService(): Promise<LoopbackService> {
  const child = fork(import.meta.filename, { stdio: ['ignore', 2, 'inherit', 'ipc'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(Reply.parse(message).url));
    child.once('exit', (code) => reject(new Error(`the loopback service ended with ${code}`)));
  });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function serve(): void {
  const body = Buffer.from(JSON.stringify(revision));
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  server.keepAliveTimeout = 60_000;
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the loopback service has no port');
    process.send?.({ url: `http://127.0.0.1:${address.port}` });
  });
}

if (import.meta.main) serve();
