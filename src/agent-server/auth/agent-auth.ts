import { isObject } from '../../contract/json-object.ts';
import { agentExport } from '../agent-export.ts';
import { splitExportPath } from '../../graph-config/export-path.ts';
import type { Configuration } from '../configuration.ts';
import { AuthRefusal, refusalIn } from './auth-refusal.ts';
import { wantedBy } from './filters.ts';
import type { Wanted } from './filters.ts';

/** Who asks, as the agent's `authenticate` says; what else it says of them is kept. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [more: string]: unknown;
}

/** What is asked about: the kinds of things, and what is to be done with one. */
export type Resource = 'assistants' | 'threads' | 'crons' | 'store';
export type Action =
  'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run' | 'put' | 'get' | 'list_namespaces';

/** A handler may change `value`: it is what is carried out. */
export interface Question {
  resource: Resource;
  action: Action;
  value: Record<string, unknown>;
  user: AuthUser;
}

/** The agent's own rules of access. */
export interface AgentAuth {
  /** @throws AuthRefusal where the caller is nobody that the agent knows. */
  authenticate(request: Request): Promise<AuthUser>;
  /**
   * What the metadata of things has to hold for this question; undefined where there is no bound.
   *
   * @throws AuthRefusal where the agent says no.
   */
  decide(question: Question): Promise<Wanted | undefined>;
  /** Whether whoever has a key of the service may say that it is the Studio, and is not asked who it is. */
  trustsStudio: boolean;
}

type Handler = (argument: unknown) => unknown;

/**
 * Loads the rules that `auth.path` names: an instance of the SDK's `Auth`, known by what it collected, since the agent
 * has its own copy of the SDK.
 *
 * @throws StartupError with the line of the configuration file.
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
      '`auth.path`: its `Auth` has no `authenticate`, so that nobody could be told apart',
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
      return userOf(await requested(() => authenticate(request)));
    },
    async decide({ resource, action, value, user }) {
      const event = `${resource}:${action}`;
      const handler = handlerOf(event) ?? handlerOf(resource) ?? handlerOf(`*:${action}`) ?? handlerOf('*');
      if (!handler) return undefined;
      const answer = await requested(() =>
        handler({ event, resource, action, value, user, permissions: user.permissions }),
      );
      if (answer === undefined || answer === null || answer === true) return undefined;
      if (answer === false) throw new AuthRefusal(403, 'Forbidden');
      if (!isObject(answer)) throw new TypeError(`The handler of ${event} answered neither a boolean nor filters.`);
      const wanted = wantedBy(answer);
      return Object.keys(wanted).length === 0 ? undefined : wanted;
    },
  };
}

/** Calls the agent's code; an error with a status is its way to say no. */
async function requested(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    throw refusalIn(error) ?? error;
  }
}

/** Whoever `authenticate` answered with: a name, or an object with an `identity`. */
export function userOf(answer: unknown): AuthUser {
  const said = typeof answer === 'string' ? { identity: answer } : answer;
  const identity = memberOf(said, 'identity');
  if (!isObject(said) || typeof identity !== 'string') {
    throw new TypeError('The handler `authenticate` answered neither a text nor an object with an `identity`.');
  }
  const { permissions, display_name, is_authenticated } = said;
  if (is_authenticated === false) throw new AuthRefusal(401, 'Unauthorized');
  return {
    ...said,
    identity,
    display_name: typeof display_name === 'string' ? display_name : identity,
    is_authenticated: true,
    permissions: Array.isArray(permissions) ? permissions.filter((each) => typeof each === 'string') : [],
  };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const isHandler = (value: unknown): value is Handler => typeof value === 'function';
