import { loggerTo } from '../../../logger.ts';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { createHttpServer, requestWithin } from '../../../../src/services/control/server.ts';
import type { Upload, UploadStore } from '../../../../src/services/control/uploads/repository.ts';
import { createUploads } from '../../../../src/services/control/uploads/uploads.ts';
import { temporaryFolder } from '../builds/repositories.ts';
import { tarballOf } from '../builds/tarballs.ts';
import { tarball } from './upload-places.ts';

const deploymentId = '11111111-2222-4333-8444-555555555555';
const known = new Map<string, Upload>();
const store: UploadStore = {
  add: async ({ objectPath }) =>
    void known.set(objectPath, { objectPath, deploymentId, state: 'issued', digest: undefined }),
  find: async (objectPath) => known.get(objectPath),
  noteStored: async (objectPath, { digest }) => {
    known.set(objectPath, { objectPath, deploymentId, state: 'stored', digest });
    return true;
  },
  stored: async () => [],
  spare: async () => [],
  noteRemoved: async () => {},
  deleteUnused: async () => {},
};

const largest = 3 * 1024 ** 2;
const atTheEnd: (() => void)[] = [];
const dataDir = temporaryFolder(atTheEnd);
const uploads = createUploads({ store, dataDir, key: Buffer.alloc(32, 1), clock: systemClock, largest });
const unused = (): never => expect.unreachable();
const app = createApp({ serviceFor: unused, findKey: unused, fieldNames: 'contract', log: loggerTo(unused), uploads });
const server = createHttpServer({ fetch: app.fetch, agents: () => false, basePath: '' });
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = address !== null && typeof address !== 'string' ? address.port : 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const end of atTheEnd.splice(0)) end();
});

const address = async (): Promise<URL> =>
  new URL((await uploads.handOut(deploymentId, `http://127.0.0.1:${port}`)).upload_url);
const folder = join(dataDir, 'uploads', deploymentId);
const files = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Sends raw bytes, and returns what arrived before the connection closed. */
async function sendRaw(url: URL, lines: readonly string[], body: Uint8Array, then: 'cut' | 'wait'): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let said = '';
  socket.on('data', (chunk) => (said += chunk.toString()));
  socket.on('error', () => {});
  socket.write(
    [`PUT ${url.pathname}${url.search} HTTP/1.1`, 'Host: x', 'Content-Type: application/gzip', ...lines, '', ''].join(
      '\r\n',
    ),
  );
  socket.write(body);
  if (then === 'wait') await once(socket, 'close');
  else {
    while (files().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.destroy();
  }
  return said;
}

test('a full disk is a 507 with its reason, and the address stays valid', async () => {
  const url = await address();
  mkdirSync(folder, { recursive: true });
  symlinkSync('/dev/full', `${join(dataDir, url.pathname)}.part`);
  const answer = await fetch(url, tarball(tarballOf()));
  expect([answer.status, await answer.json()]).toEqual([
    507,
    { detail: expect.stringContaining('There is no room for the tarball on this machine. Nothing of it was kept;') },
  ]);
  expect(files()).toEqual([]);
  expect((await fetch(url, tarball(tarballOf()))).status).toBe(200);
  rmSync(join(dataDir, url.pathname));
});

test('a dropped connection leaves nothing, and the address stays valid', async () => {
  const url = await address();
  const body = tarballOf();
  await sendRaw(url, ['Content-Length: 5000'], body, 'cut');
  while (files().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(known.get(url.pathname.slice(1))?.state).toBe('issued');
  expect((await fetch(url, tarball(body))).status).toBe(200);
  expect(files()).toHaveLength(1);
});

test('refuses an announced length above the limit before the body is sent', async () => {
  const said = await sendRaw(await address(), [`Content-Length: ${largest + 1}`], Buffer.alloc(0), 'wait');
  expect(said).toMatch(/^HTTP\/1\.1 413 /);
  expect(said).toContain(`The tarball is larger than ${largest} bytes.`);
});

test('reads a body without a length up to the limit', async () => {
  const before = files().length;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.concat([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(65_536)])),
  });
  const init = {
    method: 'PUT',
    body: endless,
    headers: { 'content-type': 'application/gzip' },
    duplex: 'half' as const,
  };
  const end = await fetch(await address(), init).then(
    ({ status }) => status,
    // The response arrives during the upload: some clients only see the connection close.
    () => 413,
  );
  expect(end).toBe(413);
  while (files().length > before) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('a slow upload has as much time as its address is valid', () => {
  expect(server.requestTimeout).toBe(requestWithin);
  expect(requestWithin).toBeGreaterThanOrEqual(15 * 60_000);
});

test('a tarball of some megabytes arrives whole', async () => {
  const body = Buffer.concat([tarballOf(), Buffer.alloc(largest - 10_000, 0x55)]);
  const answer = await fetch(await address(), tarball(body));
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ size: body.length })]);
});
