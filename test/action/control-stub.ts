import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** A control service that answers by rote: enough to see what the Action sends, and what it makes of the answers. */
export interface ControlStub {
  url: string;
  /** `METHOD /path` of every request, in order. */
  requests: string[];
  /** Bodies of the requests that wrote. */
  written: unknown[];
  /** The new revision has this status from now on; a DEPLOYED one serves. */
  becomes(status: string): void;
  close(): Promise<void>;
}

const id = '11111111-1111-4111-8111-111111111111';
const tenant = '22222222-2222-4222-8222-222222222222';
export const firstRevision = '33333333-3333-4333-8333-333333333333';
export const nextRevision = '44444444-4444-4444-8444-444444444444';
const moment = '2026-01-01T00:00:00Z';

export const deploymentId = id;

export interface StubSettings {
  /** The status of the new revision. */
  status: string;
  secrets?: { name: string; value: string }[];
}

/** Starts it on loopback. It knows one deployment, `echo`, whose first revision is live. */
export async function startControlStub({ status: initial, secrets = [] }: StubSettings): Promise<ControlStub> {
  const requests: string[] = [];
  const written: unknown[] = [];
  let status = initial;
  let [latest, active] = [firstRevision, firstRevision];
  const deployment = () => ({
    id,
    name: 'echo',
    tenant_id: tenant,
    source: 'external_docker',
    source_config: { custom_url: 'https://agent.invalid' },
    source_revision_config: { image_uri: 'echo:1' },
    secrets,
    created_at: moment,
    updated_at: moment,
    status: 'READY',
    latest_revision_id: latest,
    active_revision_id: active,
  });
  const revision = (revisionId: string) => ({
    id: revisionId,
    status: revisionId === firstRevision ? 'DEPLOYED' : status,
    source: 'external_docker',
    source_revision_config: { image_uri: revisionId === firstRevision ? 'echo:1' : 'echo:2' },
    created_at: moment,
    updated_at: moment,
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    requests.push(`${request.method} ${path}`);
    const body = await text(request);
    const send = (code: number, value: unknown): void => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (path.endsWith('_logs')) return send(200, { logs: [{ id: '1', message: '::error::line of a log' }] });
    if (request.method === 'PATCH') {
      written.push(JSON.parse(body));
      latest = nextRevision;
      return send(200, deployment());
    }
    if (path === '/v2/deployments') return send(200, { resources: [deployment()], offset: 0 });
    if (path === `/v2/deployments/${id}`) return send(200, deployment());
    if (path === `/v2/deployments/${id}/revisions`) {
      const known = latest === firstRevision ? [firstRevision] : [nextRevision, firstRevision];
      return send(200, { resources: known.map(revision), offset: 0 });
    }
    const revisionId = /\/revisions\/([0-9a-f-]+)$/.exec(path)?.[1];
    return revisionId ? send(200, revision(revisionId)) : send(404, { detail: 'Not Found' });
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stub listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    written,
    becomes(next) {
      status = next;
      if (next === 'DEPLOYED') active = nextRevision;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
