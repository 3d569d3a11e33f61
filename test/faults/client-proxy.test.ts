import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectControlService, type ControlServiceSettings } from '../../src/client/control.ts';
import { deploymentId, quickClock, revisionId, revisionReply, serviceError } from '../client/stand-in.ts';
import { selfSigned } from './certificate.ts';
import { proxyServer, type ProxyServer } from './proxy-server.ts';
import { rawServer, reply } from './raw-server.ts';

const host = 'control.example.test';
const key = 'the-api-key';
const ask = async (settings: Partial<ControlServiceSettings>) => {
  const client = connectControlService({
    baseUrl: `http://${host}`,
    allowHttp: true,
    apiKey: key,
    spelling: 'contract',
    userAgent: 'test',
    clock: quickClock(),
    retry: { attempts: 1 },
    attemptTimeoutMs: 5_000,
    ...settings,
  });
  try {
    return await client.getRevision(deploymentId, revisionId);
  } finally {
    await client.close();
  }
};
const good = reply(200, JSON.stringify(revisionReply));
const path = `/v2/deployments/${deploymentId}/revisions/${revisionId}`;

describe('plain http through a proxy', () => {
  async function through(
    run: (proxy: ProxyServer, port: number) => Promise<void>,
    credentials?: string,
  ): Promise<void> {
    await using server = await rawServer((socket) => socket.write(good));
    await using proxy = await proxyServer(server.port, credentials);
    await run(proxy, server.port);
  }

  test.each(['http_proxy', 'HTTP_PROXY'])('goes to the one that %s names', async (variable) => {
    await through(async (proxy) => {
      expect((await ask({ env: { [variable]: proxy.url } })).id).toBe(revisionId);
      expect(proxy.seen.map(({ line }) => line)).toEqual([`GET http://${host}${path}`]);
      expect(proxy.seen[0]?.headers).toMatchObject({ 'x-api-key': key, host });
    });
  });

  test('goes there where the variable holds a host and a port only', async () => {
    await through(async (proxy) => {
      await ask({ env: { HTTP_PROXY: proxy.url.replace('http://', '') } });
      expect(proxy.seen).toHaveLength(1);
    });
  });

  test("shows the proxy's own user and password to the proxy alone", async () => {
    await through(async (proxy) => {
      await ask({ env: { HTTP_PROXY: proxy.url } });
      expect(proxy.seen[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
    }, 'user:pass-word');
  });

  test('refuses without showing the password if the proxy denies access', async () => {
    await through(async (proxy) => {
      const error = await serviceError(ask({ env: { HTTP_PROXY: proxy.url.replace('pass-word', 'other-word') } }));
      expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
      expect(error.message).toContain('the proxy wants a user and a password');
      expect(error.message).not.toContain('other-word');
    }, 'user:pass-word');
  });

  test.each(['NO_PROXY', 'no_proxy'])('leaves out the hosts of %s', async (variable) => {
    await through(async (proxy, port) => {
      // This machine by another name, which is not known to be loopback.
      const baseUrl = `http://0.0.0.0:${port}`;
      await ask({ baseUrl, env: { HTTP_PROXY: proxy.url, [variable]: 'other.test, 0.0.0.0' } });
      expect(proxy.seen).toEqual([]);
      await ask({ baseUrl, env: { HTTP_PROXY: proxy.url, [variable]: 'other.test' } });
      expect(proxy.seen).toHaveLength(1);
    });
  });

  test('never takes a request to loopback', async () => {
    await through(async (proxy, port) => {
      const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
      expect((await ask({ baseUrl: `http://127.0.0.1:${port}`, env })).id).toBe(revisionId);
      expect(proxy.seen).toEqual([]);
    });
  });

  test.each(['http://[', 'ftp://127.0.0.1:1', 'http://user:%ff@127.0.0.1:1'])(
    'is refused where the variable holds %j, which is not shown',
    async (broken) => {
      const error = await serviceError(ask({ env: { HTTP_PROXY: broken } }));
      expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
      expect(error.message).toContain('HTTP_PROXY does not hold the address of a proxy');
      expect(error.message).not.toContain(broken);
    },
  );
});

describe('https', () => {
  const certificate = selfSigned(host);
  const trusted = getCACertificates('default');
  const keys: unknown[] = [];
  const server = createTlsServer(certificate, (incoming, outgoing) => {
    keys.push(incoming.headers['x-api-key']);
    outgoing.end(JSON.stringify(revisionReply));
  });
  let port = 0;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  test('is tunnelled, and the proxy sees neither the path nor the key', async () => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    try {
      await using proxy = await proxyServer(port);
      expect((await ask({ baseUrl: `https://${host}/api-host`, env: { HTTPS_PROXY: proxy.url } })).id).toBe(revisionId);
      expect(proxy.seen.map(({ line }) => line)).toEqual([`CONNECT ${host}:443`]);
      expect(JSON.stringify(proxy.seen)).not.toContain(key);
      expect(keys).toEqual([key]);
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  test('is not sent to a server with an untrusted certificate, and not retried', async () => {
    await using proxy = await proxyServer(port);
    const settings = { baseUrl: `https://${host}`, env: { HTTPS_PROXY: proxy.url }, retry: { attempts: 3 } };
    const error = await serviceError(ask(settings));
    expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
    expect(error.message).toContain('its certificate was not accepted');
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
    expect(proxy.seen).toHaveLength(1);
    expect(keys).toHaveLength(1);
  });

  test('is not sent to a proxy that is there for plain http', async () => {
    await using proxy = await proxyServer(port);
    const address = `https://0.0.0.0:${port}`;
    const error = await serviceError(ask({ baseUrl: address, env: { HTTP_PROXY: proxy.url } }));
    expect(error.message).toContain('its certificate was not accepted');
    expect(proxy.seen).toEqual([]);
  });

  test('ends as unreachable where the proxy gives no tunnel', async () => {
    await using proxy = await proxyServer(port, 'user:pass-word');
    const env = { HTTPS_PROXY: proxy.url.replace('pass-word', 'other-word') };
    const error = await serviceError(ask({ baseUrl: `https://${host}`, env }));
    expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
    expect(error.message).toContain('the proxy answered 407 instead of a tunnel');
    expect(error.message).not.toContain('other-word');
  });
});
