import { once } from 'node:events';
import { createServer, request as openRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import * as z from 'zod';
import type { Clock } from '../../../../src/kit/clock.ts';
import { agentAccess, agentAccessHeader, session, type Session } from '../../../../src/contract/control/session.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { admitToAgent } from '../../../../src/services/control/api-keys/admit.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { isAgentsHost } from '../../../../src/services/control/gateway/agents-origin.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import { createSessions } from '../../../../src/services/control/sessions/sessions.ts';
import type { Actor } from '../../../../src/services/control/store/audit.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { instantRollouts } from '../instant-rollouts.ts';
import { fromImage } from '../service-fixture.ts';
import { openTestStore } from '../store/open-store.ts';

export interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** A signed-in browser: its session, and the cookie of it. */
export interface Browser extends Session {
  cookie: string;
}

/** A time of day that the test moves. */
export interface TestClock extends Clock {
  time: number;
}

/** The service with sessions and an agent, at one address of this machine. */
export async function openSessionFixture({
  publicUrl,
  agentsUrl,
  basePath = '',
  trustedProxies,
}: { publicUrl?: string; agentsUrl?: string; basePath?: string; trustedProxies?: readonly string[] } = {}) {
  const clock: TestClock = {
    time: Date.UTC(2030, 0, 1),
    now: () => clock.time,
    sleep: (_, signal) => new Promise((_resolve, reject) => signal?.addEventListener('abort', reject)),
  };
  const opened = await openTestStore(clock);
  const { store } = opened;
  const rollouts = instantRollouts(store);
  rollouts.fate = 'held';
  const addKey = async (name: string, tenants: readonly string[]) => {
    const { id, text } = makeApiKey();
    const [first = '', ...others] = tenants;
    await store.addKey({ id, tenant_id: first, other_tenants: others, hash: hashApiKey({ id, text }), name });
    return { id, text };
  };
  const tenant = await store.addTenant('one');
  clock.time += 1;
  const other = await store.addTenant('two');
  const key = await addKey('ci', [tenant]);
  const addresses = { publicUrl, agentsUrl, basePath };
  const sessions = createSessions({ store, linkKeyId: key.id, ...addresses, trustedProxies, clock });
  const gateway = new Gateway({ authorize: admitToAgent(store, sessions), ...addresses, clock, log: silentLogger });
  const serviceFor = (tenantId: string, by?: Actor) =>
    createControlService({ store, rollouts, tenantId, by, baseUrl: () => '', allowGit: [] });
  const app = createApp({
    ...store,
    uploads: undefined,
    serviceFor,
    fieldNames: 'contract',
    log: silentLogger,
    sessions,
    console: addresses,
  });
  const server = createHttpServer({
    fetch: app.fetch,
    agents: gateway.handle,
    basePath,
    isForAgents: (host) => isAgentsHost(host, addresses),
  });
  const port = await listen(server);

  const requested: { url: string; headers: IncomingHttpHeaders }[] = [];
  /** The status of the agent's responses, and what it adds to them. */
  const agentStatus = { code: 200 };
  const agentBody = { text: '<script>alert(1)</script>' };
  const agentHeaders: Record<string, string | string[]> = {};
  const agent = createServer((request, response) => {
    requested.push({ url: request.url ?? '', headers: request.headers });
    response.writeHead(agentStatus.code, { 'content-type': 'text/html', ...agentHeaders }).end(agentBody.text);
  });
  const deployment = await serviceFor(tenant).createDeployment(fromImage());
  gateway.switchTo(deployment.id, { origin: `http://127.0.0.1:${await listen(agent)}`, token: 'token' });

  const origin = `http://127.0.0.1:${port}`;
  /** Sends a request as it stands: no header is added but `Host`. */
  async function send({ method = 'GET', path, headers = {}, body }: Sent): Promise<Received> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = openRequest(`${origin}${basePath}${path}`, { method, headers: { ...json, ...headers } });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = z
      .tuple([z.custom<import('node:http').IncomingMessage>()])
      .parse(await once(outgoing, 'response'));
    const said = await readText(response);
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    return { status: response.statusCode ?? 0, headers: response.headers, body: isJson ? JSON.parse(said) : said };
  }
  const signIn = (body: unknown, headers: Record<string, string> = {}) =>
    send({ method: 'POST', path: '/v1/sessions', body, headers });

  /** Requests a token for the agent, as a page of the console. */
  const requestAccess = ({ cookie, csrf_token }: Browser, headers: Record<string, string> = {}) =>
    send({
      method: 'POST',
      path: '/v1/session/agents',
      headers: { cookie, origin, 'x-csrf-token': csrf_token, ...headers },
      body: { deployment_id: deployment.id },
    });

  return {
    store,
    sessions,
    clock,
    origin,
    host: `127.0.0.1:${port}`,
    tenant,
    other,
    key,
    deployment: deployment.id,
    databaseUrl: opened.url,
    addKey,
    send,
    signIn,
    requestAccess,
    /** The header with such a token, for the agents' own origin. */
    async access(browser: Browser, headers?: Record<string, string>): Promise<Record<string, string>> {
      const { token } = agentAccess.parse((await requestAccess(browser, headers)).body);
      return { [agentAccessHeader]: token };
    },
    requested,
    agentHeaders,
    agentBody,
    agentStatus,
    /** Signs in with the key, or another one. */
    async browser(apiKey = key.text, headers: Record<string, string> = {}): Promise<Browser> {
      const received = await signIn({ api_key: apiKey }, headers);
      return { ...session.parse(received.body), cookie: cookieOf(received) };
    },
    async close() {
      for (const each of [server, agent]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
      await opened.close();
    },
  };
}
export type SessionFixture = Awaited<ReturnType<typeof openSessionFixture>>;

/** The cookie that a response sets, as browsers send it back. */
export const cookieOf = ({ headers }: Received): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
