import { isObject } from '../../../kit/json-object.ts';
import { agentExport } from '../graphs/javascript/agent-export.ts';
import { memberOf } from '../members.ts';
import type { Configuration } from '../configuration.ts';
import { Refusal } from '../refusal.ts';
import { parseFilter, type MetadataFilter } from './filters.ts';
import { splitExportPath } from '../../../agent-folder/graph-config/graph-path.ts';

/** The user that the agent's `authenticate` returned, with all other fields it set. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [more: string]: unknown;
}

/** The resources and actions that handlers decide about. */
export type Resource = 'assistants' | 'threads' | 'crons' | 'store';
export type Action =
  'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run' | 'put' | 'get' | 'list_namespaces';

/** A request for authorization. A handler may change `value`, which is then used. */
export interface AuthorizationRequest {
  resource: Resource;
  action: Action;
  value: Record<string, unknown>;
  user: AuthUser;
}

/** The agent's authentication and authorization handlers. */
export interface AgentAuth {
  /** @throws Refusal if the agent does not know the caller. */
  authenticate(request: Request): Promise<AuthUser>;
  /**
   * Returns what the metadata of a resource must contain for this request; undefined for no restriction.
   *
   * @throws Refusal if the agent refuses.
   */
  decide(question: AuthorizationRequest): Promise<MetadataFilter | undefined>;
  /** Whether a caller with a key of the service may present itself as the Studio and skip `authenticate`. */
  trustsStudio: boolean;
}

type Handler = (argument: unknown) => unknown;

/**
 * Loads the `Auth` instance of the SDK that `auth.path` names. Recognized by its fields, because the agent has its own
 * copy of the SDK.
 *
 * @throws StartupError with the line in the configuration file.
 */
export async function loadAuth(configuration: Configuration, configPath: string): Promise<AgentAuth | undefined> {
  const { auth } = configuration.file;
  if (auth?.path === undefined) return undefined;
  const path = ['auth', 'path'];
  const exported = await agentExport(configuration, path, auth.path, configPath);
  const collected = memberOf(exported, '~handlerCache');
  if (!isObject(collected)) {
    const { file, exportName } = splitExportPath(auth.path);
    throw configuration.invalid(
      path,
      `\`auth.path\`: export "${exportName}" of ${file} is no \`Auth\`: export \`new Auth()\`, with ` +
        "`import { Auth } from '@langchain/langgraph-sdk/auth'`",
    );
  }
  const authenticate = memberOf(collected, 'authenticate');
  if (!isHandler(authenticate)) {
    throw configuration.invalid(
      path,
      '`auth.path`: its `Auth` has no `authenticate` handler. Register one with `auth.authenticate(...)`.',
    );
  }
  const handlers = memberOf(collected, 'callbacks');
  const handlerOf = (name: string): Handler | undefined => {
    const handler = memberOf(handlers, name);
    return isHandler(handler) ? handler : undefined;
  };
  return {
    trustsStudio: auth.disable_studio_auth === false,
    async authenticate(request) {
      return userOf(await callHandler(() => authenticate(request)));
    },
    async decide({ resource, action, value, user }) {
      const event = `${resource}:${action}`;
      const handler = handlerOf(event) ?? handlerOf(resource) ?? handlerOf(`*:${action}`) ?? handlerOf('*');
      if (!handler) return undefined;
      const answer = await callHandler(() =>
        handler({ event, resource, action, value, user, permissions: user.permissions }),
      );
      return filterIn(answer, event);
    },
  };
}

/** Reads the result of a handler of an event: nothing or true, false, or filters. @throws Refusal 403 for false. */
export function filterIn(answer: unknown, event: string): MetadataFilter | undefined {
  if (answer === undefined || answer === null || answer === true) return undefined;
  if (answer === false) throw new Refusal(403, 'Forbidden');
  if (!isObject(answer)) throw new TypeError(`The handler of ${event} returned neither a boolean nor filters.`);
  const filter = parseFilter(answer);
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Calls the agent's code; an error with a status is a refusal. */
async function callHandler(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    throw refusalIn(error) ?? error;
  }
}

/** Reads the result of `authenticate`: a name, or an object with an `identity`. */
export function userOf(answer: unknown): AuthUser {
  const said = typeof answer === 'string' ? { identity: answer } : answer;
  const identity = memberOf(said, 'identity');
  if (!isObject(said) || typeof identity !== 'string') {
    throw new TypeError('The handler `authenticate` returned neither a text nor an object with an `identity`.');
  }
  const { permissions, display_name, is_authenticated } = said;
  if (is_authenticated === false) throw new Refusal(401, 'Unauthorized');
  return {
    ...said,
    identity,
    display_name: typeof display_name === 'string' ? display_name : identity,
    is_authenticated: true,
    permissions: Array.isArray(permissions) ? permissions.filter((each) => typeof each === 'string') : [],
  };
}

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

/** The refusal in an error of the agent's code: one with a status, as the SDK's `HTTPException`; else undefined. */
function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const status: unknown = Reflect.get(error, 'status');
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599) return undefined;
  return new Refusal(status, error.message, headersIn(Reflect.get(error, 'headers')));
}

function headersIn(value: unknown): Headers {
  if (value instanceof Headers) return value;
  const entries: unknown = isObject(value) ? Object.entries(value) : value;
  const headers = new Headers();
  for (const entry of Array.isArray(entries) ? entries : []) {
    const [name, text]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof name === 'string' && typeof text === 'string') headers.append(name, text);
  }
  return headers;
}
