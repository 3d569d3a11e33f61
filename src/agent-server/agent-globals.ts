import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import { isObject } from '../contract/json-object.ts';
import type { Logger } from '../logger.ts';
import type { AuthUser } from './auth/agent-auth.ts';
import { memberOf } from './members.ts';
import { abortedBy } from './protocols/internal-api.ts';

/** What the agent's code runs for: a run, or a request to its own application. */
export interface AgentContext {
  /** Whose rights its calls to this server have; undefined where it authenticates nobody. */
  user: AuthUser | undefined;
  runId?: string;
  threadId?: string;
}

const contexts = new AsyncLocalStorage<AgentContext>();

/** Runs code of the agent in a context, which `setAgentGlobals` and all that it calls can see. */
export const inAgentContext = <T>(context: AgentContext, action: () => T): T => contexts.run(context, action);

/** Handles a request of the agent's code to its own server, with the rights of `user`. */
export type FetchAsAgent = (request: Request, user: AuthUser | undefined) => Response | Promise<Response>;

/** Where `@langchain/langgraph-sdk`, of which every agent has its own copy, looks for its server. */
const sdkLogger = Symbol.for('langgraph.api.sdk-logger');
const sdkFetch = Symbol.for('langgraph_api:fetch');

/**
 * Sets what the SDK looks up in its process: the logger of `getLogger()`, and the server of a `new Client()` or
 * `RemoteGraph` without an address, which is called without a socket. Call it before the agent's code is loaded.
 */
export function setAgentGlobals({ log, fetch }: { log: Logger; fetch: FetchAsAgent }): void {
  const fetchOwn = async (...call: ConstructorParameters<typeof Request>): Promise<Response> => {
    const request = new Request(...call);
    request.signal.throwIfAborted();
    return abortedBy(await fetch(request, contexts.getStore()?.user), request.signal);
  };
  Object.assign(globalThis, { [sdkLogger]: loggerForSdk(log), [sdkFetch]: fetchOwn });
}

/** The SDK's levels, those of the library `winston`, by ours. */
const levels = {
  error: 'error',
  warn: 'warn',
  help: 'info',
  data: 'info',
  info: 'info',
  prompt: 'info',
  http: 'info',
  verbose: 'debug',
  debug: 'debug',
  input: 'debug',
  silly: 'debug',
} as const;

/** The SDK's logger: each method takes a message and details in any form, and returns the logger. */
function loggerForSdk(log: Logger): object {
  const logger: Record<string, unknown> = {};
  for (const [name, level] of Object.entries(levels)) {
    logger[name] = (...values: unknown[]) => {
      const { text, fields } = logEntry(values);
      const { runId, threadId } = contexts.getStore() ?? {};
      log[level]({ runId, threadId, node: currentNode(), ...(Object.keys(fields).length > 0 && { fields }) }, text);
      return logger;
    };
  }
  return logger;
}

/** Splits the arguments of a call: errors and texts are the message, objects are fields. */
function logEntry(values: readonly unknown[]): { text: string; fields: Record<string, unknown> } {
  const { message, ...fields }: Record<string, unknown> = Object.assign({}, ...values.filter(isFields));
  const texts = values.filter((value) => !isFields(value)).map((value) => format('%s', value));
  return { text: [...texts, ...(message === undefined ? [] : [format('%s', message)])].join(' '), fields };
}

const isFields = (value: unknown): value is Record<string, unknown> => isObject(value) && !(value instanceof Error);

/** The node of the graph that the code runs in, as the engine keeps it for its tracing. */
function currentNode(): unknown {
  const storage = Reflect.get(globalThis, Symbol.for('ls:tracing_async_local_storage'));
  const getStore = memberOf(storage, 'getStore');
  const tree: unknown = typeof getStore === 'function' ? getStore.call(storage) : undefined;
  const extra = memberOf(tree, 'extra');
  const config: unknown = isObject(extra) ? Reflect.get(extra, Symbol.for('lc:child_config')) : undefined;
  return memberOf(memberOf(config, 'metadata'), 'langgraph_node');
}
