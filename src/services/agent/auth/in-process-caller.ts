import { AsyncLocalStorage } from 'node:async_hooks';
import { dirname, resolve } from 'node:path';
import { isObject } from '../../../kit/json-object.ts';
import { exportOf, importFile } from '../graphs/javascript/agent-export.ts';
import type { Configuration } from '../configuration.ts';
import { moduleKind, packageEntry } from '../graphs/javascript/package-entry.ts';
import { memberOf } from '../members.ts';
import { passedOn } from '../protocols/internal-api.ts';
import type { AuthUser } from './agent-auth.ts';
import { splitExportPath } from '../../../agent-folder/graph-config/graph-path.ts';

/** For whom the agent's code runs: the user of a run, or the sender of a request to the agent's own application. */
export type Caller = { user: AuthUser } | { headers: Headers };

let contexts = 0;

/** Agent code that runs on behalf of a caller. */
class CallerContext {
  readonly id = String((contexts += 1));
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }
}

const current = new AsyncLocalStorage<CallerContext | undefined>();

/** Runs agent code for a caller; undefined for none. */
export const onBehalfOf = <T>(caller: Caller | undefined, action: () => T): T =>
  current.run(caller && new CallerContext(caller), action);

/** The key of a call's options that holds the context. */
const contextKey = Symbol('caller-context');
/** A header that differs for each context, so that the SDK shares no read between callers. It is never sent on. */
const callerHeader = 'x-landfall-caller';

const users = new WeakMap<Request, AuthUser>();

/** The user for whom the agent's code sent a request in process without credentials of its own. */
export const inProcessUser = (request: Request): AuthUser | undefined => users.get(request);

/** Prepares a request that the SDK sends in process: gives it the rights of the caller that its options carry. */
export function applyCaller(request: Request, init: unknown): void {
  request.headers.delete(callerHeader);
  const context = memberOf(init, contextKey);
  if (!(context instanceof CallerContext)) return;
  const { caller } = context;
  if ('user' in caller) users.set(request, caller.user);
  else for (const [name, value] of passedOn(caller.headers)) request.headers.set(name, value);
}

/** Lets a request that stands for another one have its user. */
export function keepUser(from: Request, to: Request): void {
  const user = users.get(from);
  if (user) users.set(to, user);
}

/** What the SDK and its tracing add to every request. With any other header, the agent authenticates the request itself. */
const sdkHeader = /^(?:accept.*|baggage|cache-control|content-.*|langsmith-trace|last-event-id)$/i;
const keyVariables = ['LANGGRAPH_API_KEY', 'LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'];

/** Whether a request has credentials of its own. A key from the environment is none: the SDK sends it to every server. */
function hasOwnCredentials(headers: Record<string, unknown>): boolean {
  const isFromEnvironment = (value: unknown) =>
    keyVariables.some((name) => process.env[name]?.trim().replace(/^["']|["']$/g, '') === value);
  return Object.entries(headers).some(
    ([name, value]) => !sdkHeader.test(name) && !(name.toLowerCase() === 'x-api-key' && isFromEnvironment(value)),
  );
}

/** Gives a request that the agent's code in another process sends the rights of the current caller, unless it has its own. */
export function applyCurrentCaller(request: Request): void {
  const context = current.getStore();
  const isAnonymous = !hasOwnCredentials(Object.fromEntries(request.headers));
  applyCaller(request, isAnonymous ? { [contextKey]: context } : undefined);
}

/** Agents may share one SDK, whose prototype is patched once. */
const patched = new WeakSet<object>();

/**
 * Patches the SDK's clients to carry the caller of the code that calls them, captured at the call, because the SDK
 * queues and shares requests. A class of an unknown shape stays: its headers authenticate its requests. @param
 * isInProcess whether a client's `fetch` calls this server in process.
 */
export function patchSdkClient(Client: unknown, isInProcess: (fetch: unknown) => boolean): void {
  if (typeof Client !== 'function') return;
  const { threads }: { threads?: unknown } = Reflect.construct(Client, [{ apiUrl: 'http://own', apiKey: null }]);
  const base: unknown = isObject(threads) ? Object.getPrototypeOf(Object.getPrototypeOf(threads)) : undefined;
  const prepare = memberOf(base, 'prepareFetchOptions');
  if (!isObject(base) || patched.has(base) || typeof prepare !== 'function') return;
  patched.add(base);
  const prepareWithCaller = function (this: unknown, ...call: unknown[]): unknown {
    const prepared: unknown = Reflect.apply(prepare, this, call);
    const context = current.getStore();
    const init: unknown = Array.isArray(prepared) ? prepared[1] : undefined;
    const headers = memberOf(init, 'headers');
    if (!context || !isObject(init) || !isObject(headers) || hasOwnCredentials(headers)) return prepared;
    if (!isInProcess(memberOf(memberOf(this, 'asyncCaller'), 'customFetch'))) return prepared;
    headers[callerHeader] = context.id;
    Object.assign(init, { [contextKey]: context });
    return prepared;
  };
  Reflect.defineProperty(base, 'prepareFetchOptions', {
    value: prepareWithCaller,
    writable: true,
    configurable: true,
  });
}

const sdkPackage = '@langchain/langgraph-sdk';

/** The class `Client` of every copy of the SDK that an agent's files or its engine import. */
export async function sdkClients(configuration: Configuration, configPath: string): Promise<unknown[]> {
  const { auth, http } = configuration.file;
  const others = [auth?.path, http?.app].flatMap((path) => (path === undefined ? [] : [splitExportPath(path).file]));
  const files = [...configuration.places.map(({ file }) => file), ...others].map((file) =>
    resolve(dirname(configPath), file),
  );
  const entries = new Set<string>();
  for (const file of files) {
    const kind = moduleKind(file);
    const engine = packageEntry('@langchain/langgraph', file, kind);
    for (const from of engine === undefined ? [file] : [file, engine]) {
      const entry = packageEntry(sdkPackage, from, kind);
      if (entry !== undefined) entries.add(entry);
    }
  }
  return Promise.all([...entries].map(async (entry) => exportOf(await importFile(entry), 'Client')));
}
