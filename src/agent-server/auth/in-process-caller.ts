import { AsyncLocalStorage } from 'node:async_hooks';
import { dirname, resolve } from 'node:path';
import { isObject } from '../../contract/json-object.ts';
import { splitExportPath } from '../../graph-config/export-path.ts';
import { exportOf, importFile } from '../agent-export.ts';
import type { Configuration } from '../configuration.ts';
import { moduleKind, packageEntry } from '../graphs/package-entry.ts';
import { memberOf } from '../members.ts';
import { passedOn } from '../protocols/internal-api.ts';
import type { AuthUser } from './agent-auth.ts';

/** For whom the agent's code runs: the user of a run, or the sender of a request to the agent's own application. */
export type Caller = { user: AuthUser } | { headers: Headers };

let actings = 0;

/** The agent's code, acting for a caller. */
class Acting {
  /** Unique in this process. */
  readonly id = String((actings += 1));
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }
}

const current = new AsyncLocalStorage<Acting | undefined>();

/** Runs agent code for a caller; undefined for none. */
export const onBehalfOf = <T>(caller: Caller | undefined, action: () => T): T =>
  current.run(caller && new Acting(caller), action);

/** Where a call of the SDK carries who acts, and the header that keeps the SDK from sharing reads among callers. */
const actingKey = Symbol('acting');
const callerHeader = 'x-landfall-caller';

const users = new WeakMap<Request, AuthUser>();

/** The user for whom the agent's code sent a request in process without credentials of its own. */
export const inProcessUser = (request: Request): AuthUser | undefined => users.get(request);

/** Prepares a request that the SDK sends in process: gives it the rights of the caller that its options carry. */
export function applyCaller(request: Request, init: unknown): void {
  request.headers.delete(callerHeader);
  const acting = memberOf(init, actingKey);
  if (!(acting instanceof Acting)) return;
  const { caller } = acting;
  if ('user' in caller) users.set(request, caller.user);
  else for (const [name, value] of passedOn(caller.headers)) request.headers.set(name, value);
}

/** What the SDK and its tracing add to every request. Any other header is the agent's own choice of a caller. */
const neutralHeader = /^(?:accept.*|baggage|cache-control|content-.*|langsmith-trace|last-event-id)$/i;
const keyVariables = ['LANGGRAPH_API_KEY', 'LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'];

/** Whether headers name a caller. The SDK sends the service's key from the environment to every server. */
function nameCaller(headers: Record<string, unknown>): boolean {
  const isFromEnvironment = (value: unknown) => keyVariables.some((name) => process.env[name]?.trim() === value);
  return Object.entries(headers).some(
    ([name, value]) => !neutralHeader.test(name) && !(name.toLowerCase() === 'x-api-key' && isFromEnvironment(value)),
  );
}

/** Prototypes already replaced. */
const done = new WeakSet<object>();

/**
 * Makes the SDK's clients carry the caller of the code that calls them. It has to be noted with the call: the SDK queues
 * requests, and answers equal reads at the same time by one request.
 *
 * @param Client the SDK's class; an unexpected form is left as it is, and its calls have no rights but by their headers.
 * @param isInProcess whether a client's `fetch` calls this server in process.
 */
export function carryCallers(Client: unknown, isInProcess: (fetch: unknown) => boolean): void {
  if (typeof Client !== 'function') return;
  const { threads }: { threads?: unknown } = Reflect.construct(Client, [{ apiUrl: 'http://own', apiKey: null }]);
  const base: unknown = isObject(threads) ? Object.getPrototypeOf(Object.getPrototypeOf(threads)) : undefined;
  const prepare = memberOf(base, 'prepareFetchOptions');
  if (!isObject(base) || done.has(base) || typeof prepare !== 'function') return;
  done.add(base);
  const value = function (this: unknown, ...call: unknown[]): unknown {
    const prepared: unknown = Reflect.apply(prepare, this, call);
    const now = current.getStore();
    const init: unknown = Array.isArray(prepared) ? prepared[1] : undefined;
    const headers = memberOf(init, 'headers');
    if (!now || !isObject(init) || !isObject(headers) || nameCaller(headers)) return prepared;
    if (!isInProcess(memberOf(memberOf(this, 'asyncCaller'), 'customFetch'))) return prepared;
    headers[callerHeader] = now.id;
    Object.assign(init, { [actingKey]: now });
    return prepared;
  };
  Reflect.defineProperty(base, 'prepareFetchOptions', { value, writable: true, configurable: true });
}

const sdkPackage = '@langchain/langgraph-sdk';

/** The classes `Client` of the SDKs that an agent's files and its engine import. */
export async function sdkClients(configuration: Configuration, configPath: string): Promise<unknown[]> {
  const { auth, http } = configuration.file;
  const named = [auth?.path, http?.app].flatMap((path) => (path === undefined ? [] : [splitExportPath(path).file]));
  const own = [...configuration.places.map(({ file }) => file), ...named].map((file) =>
    resolve(dirname(configPath), file),
  );
  const entries = new Set<string>();
  for (const file of own) {
    const kind = moduleKind(file);
    const engine = packageEntry('@langchain/langgraph', file, kind);
    for (const from of engine === undefined ? [file] : [file, engine]) {
      const entry = packageEntry(sdkPackage, from, kind);
      if (entry !== undefined) entries.add(entry);
    }
  }
  return Promise.all([...entries].map(async (entry) => exportOf(await importFile(entry), 'Client')));
}
