import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { lookUpImage, mayGiveTokens } from '../../src/client/image-registry.ts';
import { isPinned } from '../../src/contract/control/container.ts';

const manifest = '{"schemaVersion":2}';
const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

async function registry(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

const look = (reference: string) => lookUpImage(reference, { userAgent: 'test', env: {} }, {});

describe('the digest of an image', () => {
  test('is that of the manifest of its tag', async () => {
    const paths: (string | undefined)[] = [];
    const host = await registry((request, response) => {
      paths.push(request.url);
      response.end(manifest);
    });
    expect(await look(`${host}/acme/echo:1`)).toEqual({ kind: 'pinned', uri: `${host}/acme/echo@${digest}` });
    expect(await look(`${host}/echo`)).toEqual({ kind: 'pinned', uri: `${host}/echo@${digest}` });
    expect(paths).toEqual(['/v2/acme/echo/manifests/1', '/v2/echo/manifests/latest']);
  });

  test('of a public image takes the anonymous token that the registry names', async () => {
    const asked: (string | undefined)[] = [];
    const host = await registry((request, response) => {
      if (request.url?.startsWith('/token')) {
        asked.push(request.url);
        response.end('{"token":"anonymous"}');
      } else if (request.headers.authorization === 'Bearer anonymous') response.end(manifest);
      else {
        const challenge = `Bearer realm="http://${host}/token",service="r",scope="repository:acme/echo:pull"`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
      }
    });
    expect(await look(`${host}/acme/echo:1`)).toEqual({ kind: 'pinned', uri: `${host}/acme/echo@${digest}` });
    expect(asked).toEqual(['/token?service=r&scope=repository%3Aacme%2Fecho%3Apull']);
  });

  test.each([
    ['https://auth.docker.io/token', 'https://registry-1.docker.io', true],
    ['https://gitlab.acme.com:8443/jwt/auth', 'https://registry.acme.com:5050', true],
    ['https://10.0.0.5/token', 'https://10.0.0.5:5000', true],
    ['http://localhost:5001/token', 'http://127.0.0.1:5000', true],
    ['http://auth.acme.com/token', 'https://registry.acme.com', false],
    ['http://registry.acme.com/token', 'https://registry.acme.com', false],
    ['http://127.0.0.1:2375/token', 'https://registry.acme.com', false],
    ['https://localhost./token', 'https://registry.acme.com', false],
    ['https://169.254.169.254/token', 'https://registry.acme.com', false],
    ['https://0xa000001/token', 'https://registry.acme.com', false],
    ['https://[fd00::1]/token', 'https://registry.acme.com', false],
    ['https://vault/token', 'https://registry.acme.com', false],
    ['https://metadata.google.internal/token', 'https://registry.acme.com', false],
    ['http://10.0.0.5/token', 'http://localhost:5000', false],
  ])('asks %s for a token of %s: %s', (realm, registry, isAsked) => {
    expect(mayGiveTokens(new URL(realm), new URL(registry))).toBe(isAsked);
  });

  test.each([401, 403, 404, 302, 500])('is unknown where the registry answers %i', async (status) => {
    const host = await registry((_, response) => response.writeHead(status).end('{}'));
    const why = `the registry ${host} does not show it without credentials (HTTP ${status})`;
    expect(await look(`${host}/echo:1`)).toEqual({ kind: 'unknown', why });
  });

  test('is unknown where no registry answers', async () => {
    const host = await registry((request) => request.socket.destroy());
    expect(await look(`${host}/echo:1`)).toEqual({ kind: 'unknown', why: `the registry ${host} did not answer` });
  });

  test.each(['echo:1', 'echo', 'acme//echo', '/echo'])('is unknown where %s names no registry', async (reference) => {
    expect(await look(reference)).toEqual({ kind: 'unknown', why: 'it names no registry' });
  });

  test('stands in a reference that is pinned already', () => {
    expect([`echo@${digest}`, `echo:1@${digest}`, 'echo:1', 'echo'].map(isPinned)).toEqual([true, true, false, false]);
  });
});
