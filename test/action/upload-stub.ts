import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A control service on loopback that takes uploads and deletes: state in memory, every revision live at once. */
export interface UploadStub {
  url: string;
  /** `METHOD /path?query` of every request, in order; signatures are left out. */
  requests: string[];
  /** What was put, in order. */
  uploads: { bytes: Buffer; headers: IncomingMessage['headers'] }[];
  /** Bodies of the requests that wrote. */
  written: unknown[];
  /** Where the one deployment stands. */
  state: () => string | undefined;
  close(): Promise<void>;
}

const moment = '2026-01-01T00:00:00Z';
export const uploadedDeployment = '55555555-5555-4555-8555-555555555555';
export const storeSignature = 'signature-of-the-store';
const revisionIds = ['1', '2', '3', '4'].map((each) => each.repeat(8) + '-0000-4000-8000-000000000000');

interface Revision {
  id: string;
  status: string;
  path: string | null;
}

/** @param there whether the deployment `echo` is there when it starts */
export async function startUploadStub({ there = false }: { there?: boolean } = {}): Promise<UploadStub> {
  const requests: string[] = [];
  const uploads: UploadStub['uploads'] = [];
  const written: unknown[] = [];
  const digests = new Map<string, string>();
  const revisions: Revision[] = [];
  let issued = 0;
  let status: string | undefined = there ? 'READY' : undefined;
  /** How often it still answers while it is deleted. */
  let looks = 2;

  const config = ({ path }: Revision) => ({
    graph_config_path: 'langgraph.json',
    source_tarball_path: path,
    source_tarball_digest: path === null ? null : (digests.get(path) ?? null),
  });
  const begin = (path: string | null): void => {
    for (const each of revisions) if (each.path === null) each.status = 'SKIPPED';
    revisions.unshift({
      id: revisionIds[revisions.length] ?? '',
      status: path === null ? 'QUEUED' : 'DEPLOYED',
      path,
    });
  };
  const deployment = () => ({
    id: uploadedDeployment,
    name: 'echo',
    tenant_id: revisionIds[0],
    source: 'internal_source',
    source_config: { custom_url: 'https://agent.invalid' },
    source_revision_config: revisions[0] ? config(revisions[0]) : {},
    secrets: [],
    created_at: moment,
    updated_at: moment,
    status,
    latest_revision_id: revisions[0]?.id ?? null,
    active_revision_id: revisions.find((each) => each.status === 'DEPLOYED')?.id ?? null,
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://stub');
    const bytes = await buffer(request);
    const send = (code: number, value: unknown): void => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const method = request.method ?? '';
    requests.push(`${method} ${pathname}${method === 'PUT' ? '' : search}`);
    if (method === 'PUT') {
      if (searchParams.get('signature') !== storeSignature) return send(403, { detail: 'no' });
      uploads.push({ bytes, headers: request.headers });
      digests.set(pathname.slice(1), `sha256:${createHash('sha256').update(bytes).digest('hex')}`);
      return send(200, {});
    }
    const isThere = status !== undefined;
    if (method === 'POST' && pathname === '/v2/deployments') {
      written.push(JSON.parse(bytes.toString()));
      status = 'READY';
      begin(null);
      return send(201, deployment());
    }
    if (pathname === '/v2/deployments') return send(200, { resources: isThere ? [deployment()] : [], offset: 0 });
    if (!pathname.startsWith(`/v2/deployments/${uploadedDeployment}`) || !isThere) return send(404, { detail: 'no' });
    if (pathname.endsWith('/upload-url')) {
      issued += 1;
      const path = `uploads/${issued}.tar.gz`;
      const host = request.headers.host ?? '';
      return send(200, { upload_url: `http://${host}/${path}?signature=${storeSignature}`, object_path: path });
    }
    if (method === 'DELETE') {
      status = 'AWAITING_DELETE';
      response.writeHead(204).end();
      return;
    }
    if (method === 'PATCH') {
      const body: unknown = JSON.parse(bytes.toString());
      written.push(body);
      begin(pathOf(body));
      return send(200, deployment());
    }
    const revision = revisions.find(({ id }) => pathname.endsWith(`/revisions/${id}`));
    if (revision) {
      return send(200, { id: revision.id, status: revision.status, source_revision_config: config(revision) });
    }
    if (status === 'AWAITING_DELETE') {
      looks -= 1;
      if (looks < 0) {
        status = undefined;
        return send(404, { detail: 'no' });
      }
    }
    return send(200, deployment());
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
    uploads,
    written,
    state: () => status,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pathOf(body: unknown): string | null {
  const text = JSON.stringify(body);
  return /"source_tarball_path":"([^"]+)"/.exec(text)?.[1] ?? null;
}
