import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import nock from 'nock';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectControlService, type ControlServiceClient } from '../../src/client/control.ts';
import type { Tarball } from '../../src/kit/archive/tarball.ts';
import { deploymentId, quickClock, revisionId, serviceError } from './stand-in.ts';

const host = 'https://control.example.test';
const connected = (baseUrl = host, allowHttp = false): ControlServiceClient => {
  const client = connectControlService({
    baseUrl,
    apiKey: 'the-api-key',
    tenantId: 'the-tenant',
    spelling: 'contract',
    userAgent: 'landfall/test',
    clock: quickClock(),
    allowHttp,
    env: {},
    retry: { attempts: 3 },
  });
  onTestFinished(() => client.close());
  return client;
};

afterEach(() => nock.cleanAll());

const deploymentPath = `/v2/deployments/${deploymentId}`;
const target = {
  upload_url: 'https://store.example.test/put?signature=s3cr3t-sign',
  object_path: 'uploads/d/1.tar.gz',
};

describe('operations beyond those that every service has', () => {
  test.each([
    ['a deletion takes the tracing project along', true, '?delete_tracing_project=true'],
    ['or leaves it', false, '?delete_tracing_project=false'],
  ])('%s', async (_, deleteTracingProject, query) => {
    nock(host).delete(`${deploymentPath}${query}`).reply(204);
    await expect(connected().deleteDeployment(deploymentId, { deleteTracingProject })).resolves.toBeUndefined();
  });

  test('the deletion of a missing deployment is missing, without effect', async () => {
    nock(host).delete(deploymentPath).query(true).reply(404, { detail: 'Deployment not found' });
    const error = await serviceError(connected().deleteDeployment(deploymentId, { deleteTracingProject: true }));
    expect(error).toMatchObject({ kind: 'missing', status: 404, effect: 'none', operation: 'delete deployment' });
  });

  test('a deletion with a lost response is not sent again', async () => {
    nock(host).delete(deploymentPath).query(true).once().reply(502, 'bad gateway');
    const error = await serviceError(connected().deleteDeployment(deploymentId, { deleteTracingProject: true }));
    expect(error).toMatchObject({ kind: 'busy', effect: 'unknown' });
  });

  test.each([200, 202, 204])('an interruption may be answered %i', async (status) => {
    nock(host).post(`${deploymentPath}/revisions/${revisionId}/interruption`).reply(status);
    await expect(connected().interruptRevision(deploymentId, revisionId)).resolves.toBeUndefined();
  });

  test('requests an upload address again if the response was lost', async () => {
    nock(host).post(`${deploymentPath}/upload-url`).reply(503);
    nock(host).post(`${deploymentPath}/upload-url`).reply(200, target);
    await expect(connected().requestUpload(deploymentId)).resolves.toEqual(target);
  });

  test('finds a service that has it at the documented path', async () => {
    nock(host).post(`${deploymentPath}/upload-url`).reply(404);
    nock(host).post(`/deployments/${deploymentId}/upload-url`).reply(200, target);
    await expect(connected().requestUpload(deploymentId)).resolves.toEqual(target);
  });

  test('reports a rejection, and does not try another path', async () => {
    nock(host).post(`${deploymentPath}/upload-url`).reply(400, { detail: 'not an internal_source deployment' });
    const error = await serviceError(connected().requestUpload(deploymentId));
    expect(error).toMatchObject({ kind: 'rejected', detail: 'not an internal_source deployment' });
  });

  test('returns a push token', async () => {
    const token = { token: 't', registry_url: 'registry.example.test' };
    nock(host).post(`${deploymentPath}/push-token`).reply(200, token);
    await expect(connected().requestPushToken(deploymentId)).resolves.toEqual(token);
  });
});

interface Arrived {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
  whole: boolean;
}

type Answer = (response: ServerResponse, arrived: Arrived, count: number) => void;

/** A store on loopback; `address` has a signature. */
async function storeThat(answer: Answer) {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    const { method, url, headers } = request;
    const done = (whole: boolean) => {
      const each = { method, url, headers, body: Buffer.concat(parts), whole };
      arrived.push(each);
      if (whole) answer(response, each, arrived.length);
    };
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => done(true));
    request.on('error', () => done(false));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('it listens on no port');
  const origin = `http://127.0.0.1:${at.port}`;
  return { origin, address: `${origin}/put/hidden-in-path?signature=s3cr3t-signature&expires=9`, arrived };
}

const content = Buffer.from('gzip'.repeat(100_000));

const tarballOf = (pieces: readonly Buffer[], measured: Buffer = Buffer.concat(pieces)): Tarball => ({
  size: measured.length,
  digest: `sha256:${createHash('sha256').update(measured).digest('hex')}`,
  async *read() {
    for (const piece of pieces) {
      await new Promise(setImmediate);
      yield piece;
    }
  },
});
const tarball = tarballOf([content.subarray(0, 5), content.subarray(5, 300_000), content.subarray(300_000)]);

describe('an upload', () => {
  test('sends the bytes unchanged, with their length and digest, and without a key', async () => {
    const store = await storeThat((response) => response.writeHead(204).end());
    await expect(connected().putTarball(store.address, tarball)).resolves.toEqual({ kind: 'stored' });
    const [put, ...more] = store.arrived;
    expect(more).toEqual([]);
    expect(put).toMatchObject({ method: 'PUT', url: '/put/hidden-in-path?signature=s3cr3t-signature&expires=9' });
    expect(put?.body.equals(content)).toBe(true);
    expect(put?.headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-length': String(content.length),
      'content-digest': `sha-256=:${createHash('sha256').update(content).digest('base64')}:`,
    });
    expect(Object.keys(put?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(x-api-key|x-tenant-id|authorization|transfer-encoding)$/)]),
    );
  });

  test.each([
    ['without a list of signed headers', '', '0,209715200'],
    [
      'with the size range among them',
      '&X-Goog-SignedHeaders=content-type%3Bhost%3Bx-goog-content-length-range',
      '0,209715200',
    ],
    ['without the size range among them', '&X-Amz-SignedHeaders=content-type%3Bhost', undefined],
  ])('sends the signed headers of an address %s', async (_, signed, range) => {
    const store = await storeThat((response) => response.writeHead(204).end());
    await connected().putTarball(`${store.address}${signed}`, tarball);
    expect(store.arrived[0]?.headers['x-goog-content-length-range']).toBe(range);
  });

  test('sends no key to the service itself either: the address is the permission', async () => {
    const store = await storeThat((response) => response.writeHead(204).end());
    await connected(store.origin).putTarball(store.address, tarball);
    expect(store.arrived[0]?.headers['x-api-key']).toBeUndefined();
  });

  test('follows no redirect', async () => {
    const other = await storeThat((response) => response.writeHead(204).end());
    const store = await storeThat((response) => response.writeHead(307, { location: other.address }).end());
    const error = await serviceError(connected().putTarball(store.address, tarball));
    expect(error).toMatchObject({ kind: 'unreadable', status: 307, effect: 'none' });
    expect(other.arrived).toEqual([]);
  });

  test('hides path and signature of its address in errors', async () => {
    const store = await storeThat((response, { url }) =>
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`no: ${url} s3cr3t-signature hidden-in-path`),
    );
    const error = await serviceError(connected().putTarball(store.address, tarball));
    expect(error).toMatchObject({ kind: 'unauthorized', address: `${store.origin}/…` });
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toMatch(/s3cr3t-signature|put\/hidden/);
  });

  test.each([
    ['is sent again if the store was too busy to start', 429, 2, 'stored'],
    ['is not sent again if the outcome is unknown', 502, 1, 'busy'],
    ['is not sent again if it was rejected', 400, 1, 'rejected'],
  ])('%s', async (_, status, times, end) => {
    const store = await storeThat((response, _put, count) => response.writeHead(count === 1 ? status : 204).end());
    const put = connected().putTarball(store.address, tarball);
    const kind = await put.then(
      (stored) => stored.kind,
      () => serviceError(put).then((error) => error.kind),
    );
    expect(kind).toBe(end);
    expect(store.arrived).toHaveLength(times);
    expect(store.arrived.every(({ body }) => body.equals(content))).toBe(true);
  });

  test.each([
    ['is longer', [content, Buffer.from('more')]],
    ['is shorter', [content.subarray(0, 300_000)]],
    ['is another of the same length', [content.subarray(0, 300_000), Buffer.alloc(100_000)]],
  ])('whose content %s than measured never arrives complete', async (_, pieces) => {
    const store = await storeThat((response) => response.writeHead(204).end());
    const put = await connected().putTarball(store.address, tarballOf(pieces, content));
    expect(put).toEqual({ kind: 'changed', why: 'its content has changed since it was measured' });
    expect(store.arrived.filter(({ whole }) => whole)).toEqual([]);
  });

  test('whose source cannot be read again reports the reason', async () => {
    const store = await storeThat((response) => response.writeHead(204).end());
    const broken: Tarball = {
      ...tarball,
      async *read() {
        yield content.subarray(0, 10);
        throw new Error('a.ts was changed while the folder was packed');
      },
    };
    const put = await connected().putTarball(store.address, broken);
    expect(put).toEqual({ kind: 'changed', why: 'a.ts was changed while the folder was packed' });
  });

  test('is not sent over plain http to another machine unless allowed', async () => {
    const error = await serviceError(connected().putTarball('http://store.example.test/x?s=secretsecret', tarball));
    expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
    expect(error.message).toContain('allow-http');
  });

  test('is cancelled by its signal', async () => {
    const store = await storeThat(() => undefined);
    const ended = new AbortController();
    const put = connected().putTarball(store.address, tarball, { signal: ended.signal });
    const reason = new Error('enough');
    setTimeout(() => ended.abort(reason), 50);
    await expect(put).rejects.toBe(reason);
  });
});
