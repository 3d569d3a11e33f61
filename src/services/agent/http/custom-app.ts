import { Hono } from 'hono';
import type { Configuration } from '../configuration.ts';
import { hasMethods, memberOf } from '../members.ts';
import { agentExport } from '../graphs/javascript/agent-export.ts';
import type { AuthUser } from '../auth/agent-auth.ts';
import type { Upgrade } from '../api/web-sockets.ts';

/** What an application knows of a request beside it. */
export interface AppEnv {
  Bindings: {
    /** Present where it asks for a WebSocket. */
    upgrade?: Upgrade | undefined;
  };
  Variables: {
    authUser?: AuthUser;
    /** Whether the server has no such route. */
    isUnknown?: boolean;
  };
}

/** The agent's own routes. */
export interface CustomApp {
  /** A Hono application, whose middleware and routes come first. */
  before: Hono<AppEnv> | undefined;
  /** Handles requests that no route matches. */
  after: ((request: Request, known: KnownOfRequest) => Response | Promise<Response>) | undefined;
}

interface KnownOfRequest {
  user: AuthUser | undefined;
  upgrade: Upgrade | undefined;
}

/**
 * Loads the application of `http.app`. The middleware and routes of a Hono application come first; any other handler
 * gets the paths that the server does not have. @throws StartupError with the line.
 */
export async function loadCustomApp(configuration: Configuration, configPath: string): Promise<CustomApp | undefined> {
  const named = configuration.file.http?.app;
  if (named === undefined) return undefined;
  const path = ['http', 'app'];
  const exported = await agentExport(configuration, path, named, configPath);
  if (isHono(exported)) return { before: exported, after: undefined };
  if (isFetch(exported)) return { before: undefined, after: (request) => exported(request) };
  const fetch = memberOf(exported, 'fetch');
  if (isFetch(fetch)) return { before: undefined, after: (request) => fetch.call(exported, request) };
  const advice = 'export a Hono application, an object with a method `fetch`, or a function that answers a Request';
  throw configuration.invalid(path, `\`http.app\` is no application: ${advice}`);
}

type Fetch = (request: Request) => Response | Promise<Response>;

const isFetch = (value: unknown): value is Fetch => typeof value === 'function';

/** Recognizes a Hono application of any version by its list of routes. */
const isHono = (value: unknown): value is Hono<AppEnv> =>
  value instanceof Hono || (Array.isArray(memberOf(value, 'routes')) && hasMethods(value, 'fetch', 'route'));
