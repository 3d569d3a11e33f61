import { silentLogger } from '../../../src/kit/logger.ts';
import { describe, expect, test } from 'vitest';
import { listen, pathOf, queryOf, createRouter, type Route } from '../../../app/server/http-server.ts';
import { runRoute, type RunWebhook } from '../../../app/server/run-route.ts';
import { systemRoutes } from '../../../app/server/system-routes.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { send, startIntake } from './intake.ts';

const route = (method: Route['method'], path: string): Route => ({ method, path, handle: () => undefined });

describe('routing', () => {
  const routes = [
    route('POST', '/'),
    route('GET', '/setup'),
    route('POST', '/runs/:intent'),
    route('GET', '/runs/latest'),
  ];
  const find = createRouter(routes);
  test.each([
    ['POST', '/', '/', {}],
    ['POST', '/?a=1', '/', {}],
    ['GET', '/setup', '/setup', {}],
    ['POST', '/runs/one?token=t', '/runs/:intent', { intent: 'one' }],
    ['POST', '/runs/a%2Fb', '/runs/:intent', { intent: 'a/b' }],
    ['GET', '/runs/latest', '/runs/latest', {}],
  ])('%s %s goes to %s', (method, url, path, params) => {
    expect(find(method, url)).toMatchObject({ kind: 'found', route: { path }, params });
  });

  test.each([
    ['GET', '/nothing', { kind: 'none' }],
    ['POST', '/runs/', { kind: 'none' }],
    ['POST', '/runs/a/b', { kind: 'none' }],
    ['POST', '/runs/%E0%A4%A', { kind: 'none' }],
    ['GET', '/', { kind: 'other-methods', allow: 'POST' }],
    ['PUT', '/runs/latest', { kind: 'other-methods', allow: 'POST, GET' }],
  ])('%s %s goes nowhere', (method, url, found) => {
    expect(find(method, url)).toEqual(found);
  });

  test('splits the URL at its first question mark', () => {
    expect(pathOf('/runs/x?token=a?b')).toBe('/runs/x');
    expect(queryOf('/runs/x?token=a%20b').get('token')).toBe('a b');
    expect([...queryOf('/runs/x')]).toEqual([]);
  });
});

test('an unknown path is 404, another method 405 with the allowed ones', async () => {
  const { url } = await startIntake();
  expect((await fetch(`${url}/favicon.ico`)).status).toBe(404);
  const other = await fetch(url);
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
});

test('a port in use is reported with advice', async () => {
  const { server } = await startIntake();
  const start = listen({ routes: [], host: '127.0.0.1', port: server.port, clock: systemClock, log: silentLogger });
  await expect(start).rejects.toThrow(`Port ${server.port} is taken. Set PORT`);
});

test('an address of another machine is reported with advice', async () => {
  const start = listen({ routes: [], host: '192.0.2.1', port: 0, clock: systemClock, log: silentLogger });
  await expect(start).rejects.toThrow('192.0.2.1 is no address of this machine. Set HOST');
});

describe('health', () => {
  async function start(probeDatabase: () => Promise<unknown>, isDraining = false) {
    const routes = systemRoutes({
      probeDatabase,
      isDraining: () => isDraining,
      metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'landfall_database_up 1\n' },
      clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) },
    });
    const { url } = await startIntake({ routes });
    return async (path: string) => {
      const answer = await fetch(url + path);
      return [answer.status, (await answer.text()).trim()];
    };
  }

  test('is ready if the database responds', async () => {
    const ask = await start(async () => 1);
    expect(await ask('/healthz')).toEqual([200, 'ok']);
    expect(await ask('/readyz')).toEqual([200, 'ready']);
    expect(await ask('/metrics')).toEqual([200, 'landfall_database_up 1']);
  });

  test.each([
    ['refuses', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('is not ready where the database %s, but alive', async (_, askDatabase) => {
    const ask = await start(askDatabase);
    expect(await ask('/healthz')).toEqual([200, 'ok']);
    expect(await ask('/readyz')).toEqual([503, 'the database is unavailable']);
  });

  test('is not ready during shutdown', async () => {
    const ask = await start(async () => 1, true);
    expect(await ask('/readyz')).toEqual([503, 'leaving']);
  });
});

describe('the webhook about a run', () => {
  async function start(status = 204) {
    const reported: RunWebhook[] = [];
    const receive = async (run: RunWebhook) => {
      reported.push(run);
      return { status };
    };
    const { url } = await startIntake({ routes: [runRoute(receive, systemClock)] });
    const post = (path: string, body: string): Promise<Response> => fetch(url + path, { method: 'POST', body });
    return { reported, post };
  }

  test.each([
    ['JSON', '{"status":"success"}', { status: 'success' }],
    ['something else', 'status=success', undefined],
    ['nothing', '', undefined],
  ])('passes %s on with its token', async (_, body, read) => {
    const { reported, post } = await start();
    expect((await post('/runs/intent-1?token=t%3D1', body)).status).toBe(204);
    expect(reported).toMatchObject([{ intentId: 'intent-1', token: 't=1' }]);
    expect(reported[0]?.body()).toEqual(read);
  });

  test("responds with the receiver's status", async () => {
    const { post } = await start(401);
    expect((await post('/runs/intent-1?token=wrong', '{}')).status).toBe(401);
  });

  test('is refused without a token, or with one that is too long', async () => {
    const { reported, post } = await start();
    expect((await post('/runs/intent-1', '{}')).status).toBe(401);
    expect((await post('/runs/intent-1?token=t', 'x'.repeat(11 * 1024 * 1024))).status).toBe(413);
    expect(reported).toEqual([]);
  });
});

describe('during shutdown', () => {
  test('open requests are finished, new ones refused', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { url, server } = await startIntake({
      store: async () => {
        enter();
        await go;
        return 'stored';
      },
    });
    const underWay = send(url);
    await entered;
    // Longer than the test may take: it ends with the request, not with its limit.
    const drained = server.drain(600_000);
    expect(server.draining).toBe(true);
    await expect(send(url)).rejects.toThrow('fetch failed');
    resolve();
    expect((await underWay).status).toBe(202);
    await drained;
  });

  test('requests that do not end are aborted', async () => {
    const { url, server } = await startIntake({ store: () => new Promise(() => undefined) });
    const underWay = send(url).catch((error: unknown) => error);
    await expect.poll(() => server.draining).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.drain(100);
    expect(await underWay).toBeInstanceOf(Error);
  });
});
