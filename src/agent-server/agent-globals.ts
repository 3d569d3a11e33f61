import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import { isObject } from '../contract/json-object.ts';
import { cutMark, type Logger } from '../logger.ts';
import { memberOf } from './members.ts';
import { abortedBy, type Fetch } from './protocols/internal-api.ts';
import { unlessAborted } from './runs/aborted.ts';

/** The run that the agent's code is part of. */
interface AgentContext {
  runId: string;
  threadId: string;
}

const contexts = new AsyncLocalStorage<AgentContext>();

/** Runs code of the agent for a run, which the lines that it logs name. */
export const inAgentContext = <T>(context: AgentContext, action: () => T): T => contexts.run(context, action);

/** Where `@langchain/langgraph-sdk`, of which every agent has its own copy, looks for its server. */
const sdkLogger = Symbol.for('langgraph.api.sdk-logger');
const sdkFetch = Symbol.for('langgraph_api:fetch');

/**
 * Sets what the SDK looks up in its process: the logger of `getLogger()`, and the server of a `new Client()` or
 * `RemoteGraph` without an address, which is called without a socket. Call it before the agent's code is loaded.
 *
 * Calls are authenticated by their headers, as any other: the SDK queues and shares the requests of a client, so they
 * can't be told apart by the run that sends them.
 */
export function setAgentGlobals({ log, fetch }: { log: Logger; fetch: Fetch }): void {
  const fetchOwn = async (...call: ConstructorParameters<typeof Request>): Promise<Response> => {
    const request = new Request(...call);
    const response = await unlessAborted(Promise.resolve(fetch(request)), request.signal);
    return abortedBy(response, request.signal);
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
      log[level]({ runId, threadId, node: currentNode(), fields: shortened(fields) }, text);
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

/** The longest fields of a line, in characters of JSON: a longer line would be cut by readers, which drop its level. */
const longestFields = 4_000;

/** The fields; cut to a text where they are long, undefined where there are none. */
function shortened(fields: object): object | string | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  // Agents log anything, also what JSON can't represent.
  const text = format('%j', fields);
  return text.length <= longestFields ? fields : `${text.slice(0, longestFields)}${cutMark}`;
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
