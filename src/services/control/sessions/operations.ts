import type { Context } from 'hono';
import {
  agentAccess,
  agentAccessRequest,
  currentSession,
  session,
  sessionCreateRequest,
  sessionPatchRequest,
} from '../../../contract/control/session.ts';
import { operationsOf } from '../api/define-operation.ts';
import type { Env } from '../api/operation.ts';
import { readJson } from '../api/request.ts';
import { problemResponse } from '../api/response-schemas.ts';
import { Call } from '../service/call.ts';
import type { CurrentSession } from './admit-session.ts';
import type { Sessions } from './sessions.ts';

const define = operationsOf('Session', { scope: 'any' });

/** The session of a browser. */
export const sessionOperations = [
  define.post('/v1/sessions', 'create_session', {
    summary: 'Sign a browser in',
    description:
      'The response sets a cookie. Requests that change something also need the header `X-CSRF-Token` and an `Origin` of this service; so do all requests to agents where the session has no `agents_url`. From the fifth wrong key or code of an address on it waits.',
    body: { schema: sessionCreateRequest, required: true },
    responses: {
      201: { description: 'The session.', schema: session },
      429: {
        description: 'Too many wrong keys or codes: try again after `Retry-After` seconds.',
        schema: problemResponse,
      },
    },
    errors: [401, 403, 413, 415, 422],
    open: true,
    handle: async (c) => {
      const { sessions } = c.var.settings;
      if (!sessions) return c.notFound();
      const body = await readJson(c);
      const address = c.env?.incoming?.socket.remoteAddress ?? '';
      const result = await sessions.signIn({ body, header: (name) => c.req.header(name), address });
      if (result.kind === 'session') {
        c.header('Set-Cookie', result.setCookie);
        return c.json(result.session, 201);
      }
      if (result.kind === 'refused') return c.json({ detail: result.detail }, result.status);
      c.header('Retry-After', String(result.retryAfter));
      return c.json({ detail: result.detail }, 429);
    },
  }),
  define.get('/v1/sessions/current', 'find_session', {
    summary: 'Find the session of the browser',
    description: 'Null where the browser has none, for pages that then ask to sign in.',
    responses: { 200: { description: 'The session, or null.', schema: currentSession } },
    errors: [404],
    open: true,
    handle: async (c) => {
      const { sessions } = c.var.settings;
      if (!sessions) return c.notFound();
      const header = (name: string): string | undefined => c.req.header(name);
      const found = await sessions.admit({ header, method: 'GET', isSafe: true });
      return c.json({ session: found?.kind === 'session' ? await sessions.read(found.session, header) : null });
    },
  }),
  define.get('/v1/session', 'get_session', {
    summary: 'Read the session of the browser',
    description: 'The key, the workspaces and the CSRF token of the cookie’s session.',
    responses: { 200: { description: 'The session.', schema: session } },
    handle: (c) =>
      withSession(c, async (sessions, current) => c.json(await sessions.read(current, (name) => c.req.header(name)))),
  }),
  define.patch('/v1/session', 'patch_session', {
    summary: 'Choose the tenant of the session',
    description: 'For a key of several tenants. Requests of the session are of that tenant from then on.',
    body: { schema: sessionPatchRequest, required: true },
    responses: { 200: { description: 'The session.', schema: session } },
    handle: async (c) => {
      const call = new Call('patch session', 'PATCH', '/v1/session');
      const { tenant_id: tenantId } = call.body(sessionPatchRequest, await readJson(c));
      return withSession(c, async (sessions, current) => {
        const chosen = await sessions.chooseTenant(current, tenantId.toLowerCase(), (name) => c.req.header(name));
        return chosen ? c.json(chosen) : c.json({ detail: noTenant }, 403);
      });
    },
  }),
  define.post('/v1/session/agents', 'create_agent_access', {
    summary: 'Let a page call an agent at the origin of agents',
    description:
      'The response has a token for the header `X-Landfall-Agent-Access` of requests to this one agent below `agents_url` of the session. Requests begin with it for some minutes, and it ends with the session.',
    scope: 'agent',
    body: { schema: agentAccessRequest, required: true },
    responses: { 201: { description: 'The token.', schema: agentAccess } },
    errors: [404],
    handle: async (c) => {
      const call = new Call('create agent access', 'POST', '/v1/session/agents');
      const { deployment_id: deploymentId } = call.body(agentAccessRequest, await readJson(c));
      return withSession(c, async (sessions, current) => {
        // Refuses one of another tenant.
        const { id } = await c.var.service.getDeployment(deploymentId);
        return c.json(sessions.agents.issue(current, id), 201);
      });
    },
  }),
  define.delete('/v1/session', 'delete_session', {
    summary: 'Sign the browser out',
    description: 'Ends it for all its pages, and removes the cookie.',
    responses: { 204: { description: 'The session has ended.' } },
    handle: (c) =>
      withSession(c, async (sessions, current) => {
        await sessions.end(current);
        c.header('Set-Cookie', sessions.clearCookie);
        return c.body(null, 204);
      }),
  }),
];

/** Handles a request with a session; one with an API key has none. */
async function withSession(
  c: Context<Env>,
  handle: (sessions: Sessions, current: CurrentSession) => Promise<Response>,
): Promise<Response> {
  const { sessions } = c.var.settings;
  const current = c.var.session;
  if (!sessions || !current) return c.json({ detail: noSession }, 401);
  return handle(sessions, current);
}

const noSession = 'This request has no session. Sign in with POST /v1/sessions, and send no API key.';
const noTenant = 'This is no tenant of the key. Choose one of the tenants of GET /v1/session.';
