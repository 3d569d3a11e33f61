import { Hono } from 'hono';
import type { Configuration } from '../configuration.ts';
import { agentExport } from '../agent-export.ts';

/** Routes of the agent's own, beside the server's. */
export interface CustomApp {
  /** Its middleware and routes, which come before the server's. */
  before: Hono | undefined;
  /** Asked for what neither has. */
  after: ((request: Request) => Response | Promise<Response>) | undefined;
}

/**
 * Loads the application that `http.app` names. One of Hono is taken in: its middleware sees every request, its routes
 * win over the server's. Another that answers a `Request` is asked for the paths that the server does not have.
 *
 * @throws StartupError with the line of the configuration file.
 */
export async function loadCustomApp(configuration: Configuration, configPath: string): Promise<CustomApp | undefined> {
  const named = configuration.file.http?.app;
  if (named === undefined) return undefined;
  const path = ['http', 'app'];
  const exported = await agentExport(configuration, path, named, configPath);
  if (isHono(exported)) return { before: exported, after: undefined };
  if (isFetch(exported)) return { before: undefined, after: exported };
  const fetch: unknown = typeof exported === 'object' && exported !== null ? Reflect.get(exported, 'fetch') : undefined;
  if (isFetch(fetch)) return { before: undefined, after: (request) => fetch.call(exported, request) };
  const advice = 'export a Hono application, an object with a method `fetch`, or a function that answers a Request';
  throw configuration.invalid(path, `\`http.app\` is no application: ${advice}`);
}

type Fetch = (request: Request) => Response | Promise<Response>;

const isFetch = (value: unknown): value is Fetch => typeof value === 'function';

/** An application of whichever version of Hono the agent has: it is known by its list of routes. */
const isHono = (value: unknown): value is Hono =>
  value instanceof Hono ||
  (typeof value === 'object' &&
    value !== null &&
    Array.isArray(Reflect.get(value, 'routes')) &&
    typeof Reflect.get(value, 'fetch') === 'function' &&
    typeof Reflect.get(value, 'route') === 'function');
