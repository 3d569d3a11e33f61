import * as z from 'zod';

/** The header in which a page repeats the token of its session: requests that change something, and all to agents, need it. */
export const csrfTokenHeader = 'x-csrf-token';

/** The header of requests by an idle page: they do not prolong the session. */
export const backgroundHeader = 'x-landfall-background';

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
  /** When it ends if nothing is requested until then. */
  expires_at: z.string(),
});
export type Session = z.infer<typeof session>;

/** GET /v1/sessions/current: the session, or null where the browser has none. */
export const currentSession = z.looseObject({ session: session.nullable() });
