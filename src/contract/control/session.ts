import * as z from 'zod';

/** The header in which a page repeats the token of its session: requests that change something need it. */
export const csrfTokenHeader = 'x-csrf-token';

/** The header of requests by an idle page: they do not prolong the session. */
export const backgroundHeader = 'x-landfall-background';

/** The header with a token of POST /v1/session/agents, by which a page calls an agent at `agents_url`. */
export const agentAccessHeader = 'x-landfall-agent-access';

/** The body of POST /v1/session/agents. */
export const agentAccessRequest = z.strictObject({ deployment_id: z.uuid() });

/** How long such a token is valid for new requests (ms). */
export const agentAccessMs = 5 * 60_000;

/** A token for the requests of a page to one agent. */
export const agentAccess = z.looseObject({ token: z.string(), expires_at: z.string() });

/** The body of POST /v1/sessions: an API key, or the code of a one-time link. */
export const sessionCreateRequest = z.union([
  z.strictObject({ api_key: z.string().min(1).max(200) }),
  z.strictObject({ code: z.string().min(1).max(200) }),
]);
export type SessionCreateRequest = z.infer<typeof sessionCreateRequest>;

/** The body of PATCH /v1/session: chooses the workspace of an organisation's key. */
export const sessionPatchRequest = z.strictObject({ tenant_id: z.uuid() });

const tenant = z.looseObject({ id: z.string(), name: z.string() });

/** A browser's session. Its cookie is HttpOnly; `csrf_token` is what only a page of this origin can read. */
export const session = z.looseObject({
  key_id: z.string(),
  key_name: z.string(),
  /** The workspace of its requests. */
  tenant_id: z.string(),
  /** The workspaces of the key, oldest first. */
  tenants: z.array(tenant),
  csrf_token: z.string(),
  /** When it expires without further requests. */
  expires_at: z.string(),
  /** The agents' own origin, if the service has one. */
  agents_url: z.string().optional(),
});
export type Session = z.infer<typeof session>;

/** GET /v1/sessions/current: the session, or null if the browser has none. */
export const currentSession = z.looseObject({ session: session.nullable() });
