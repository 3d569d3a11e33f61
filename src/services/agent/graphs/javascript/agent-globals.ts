import { unlessAborted } from '../../../../kit/clock.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { format, inspect } from 'node:util';
import { cutMark } from '../../../../kit/plain-text.ts';
import { isObject } from '../../../../kit/json-object.ts';
import type { Logger } from '../../../../kit/logger.ts';
import type { AuthUser } from '../../auth/agent-auth.ts';
import { applyCaller, onBehalfOf } from '../../auth/in-process-caller.ts';
import { memberOf } from '../../members.ts';
import { abortedBy, type Fetch } from '../../protocols/internal-api.ts';

interface AgentContext {
  runId: string;
  threadId: string;
  /** The run's user, if the agent has authorization rules. */
  user: AuthUser | undefined;
}

const contexts = new AsyncLocalStorage<AgentContext>();

/** Calls a function in no context: the engine would take a run that a node starts for a subgraph of the node's run. */
const outsideRuns = AsyncLocalStorage.snapshot();

/** Runs agent code in the context of a run: for its log lines, and for the rights of its calls of this server. */
export const inAgentContext = <T>(context: AgentContext, action: () => T): T =>
  onBehalfOf(context.user && { user: context.user }, () => contexts.run(context, action));

/** Where `@langchain/langgraph-sdk` looks up its logger and its `fetch`. Every agent has its own copy of the SDK. */
const sdkLoggerKey = Symbol.for('langgraph.api.sdk-logger');
const sdkFetchKey = Symbol.for('langgraph_api:fetch');

/**
 * Sets the globals that the SDK looks up, before the agent's code is loaded: the logger of `getLogger()`, and the
 * `fetch` of a `Client` or `RemoteGraph` without an address, which calls this server in process with the rights of the
 * code's caller, unless its headers authenticate it.
 */
export function setAgentGlobals({ log, fetch }: { log: Logger; fetch: Fetch }): void {
  const fetchInProcess = async (...call: ConstructorParameters<typeof Request>): Promise<Response> => {
    const request = new Request(...call);
    applyCaller(request, call[1]);
    return callInProcess(fetch, request);
  };
  Object.assign(globalThis, { [sdkLoggerKey]: loggerForSdk(log), [sdkFetchKey]: fetchInProcess });
}

/** Calls this server for the agent's code, outside of the run that the code is part of. */
export async function callInProcess(fetch: Fetch, request: Request): Promise<Response> {
  const pending = outsideRuns(async () => fetch(request));
  try {
    return abortedBy(await unlessAborted(pending, request.signal), request.signal);
  } catch (error) {
    // As over a socket, a client that leaves before the response ends the run that it waits for.
    pending.then(({ body }) => body?.cancel()).catch(() => undefined);
    throw error;
  }
}

/** Whether a `fetch` is the one for calls in process. */
export const isInProcess = (fetch: unknown): boolean =>
  fetch !== undefined && fetch === Reflect.get(globalThis, sdkFetchKey);

/** Our level of each of the SDK's, which are those of the library `winston`. */
const levelOf = {
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
  for (const [name, level] of Object.entries(levelOf)) {
    logger[name] = (...values: unknown[]) => {
      const { text, fields } = logEntry(values);
      const { runId, threadId } = contexts.getStore() ?? {};
      log[level]({ runId, threadId, node: currentNode(), fields: shortened(fields) }, text);
      return logger;
    };
  }
  return logger;
}

/** Splits the arguments of a call: errors and primitive values are the message, other objects are merged into fields. */
function logEntry(values: readonly unknown[]): { text: string; fields: Record<string, unknown> } {
  const { message, ...fields }: Record<string, unknown> = Object.assign({}, ...values.filter(isFields));
  const texts = values.filter((value) => !isFields(value)).map((value) => format('%s', value));
  return { text: [...texts, ...(message === undefined ? [] : [format('%s', message)])].join(' '), fields };
}

/** The maximum length of a line's fields: readers of the log truncate longer lines, and lose their level. */
const maxFieldsLength = 4_000;

/** The fields; as truncated text if they are too long, undefined if there are none. */
function shortened(fields: object): object | string | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  // Unlike JSON, it does not fail on what agents log.
  const text = inspect(fields, { depth: 4, breakLength: Infinity, customInspect: false });
  return text.length <= maxFieldsLength ? fields : `${text.slice(0, maxFieldsLength)}${cutMark}`;
}

const isFields = (value: unknown): value is Record<string, unknown> => isObject(value) && !(value instanceof Error);

/** The current node of the graph, from what LangChain keeps in async-local storage for its tracing: no public API. */
function currentNode(): unknown {
  const storage = Reflect.get(globalThis, Symbol.for('ls:tracing_async_local_storage'));
  const getStore = memberOf(storage, 'getStore');
  const tree: unknown = typeof getStore === 'function' ? getStore.call(storage) : undefined;
  const extra = memberOf(tree, 'extra');
  const config: unknown = isObject(extra) ? Reflect.get(extra, Symbol.for('lc:child_config')) : undefined;
  return memberOf(memberOf(config, 'metadata'), 'langgraph_node');
}
