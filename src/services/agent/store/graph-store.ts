import { maxItemTtlMinutes } from '../../../contract/agent/store-item.ts';
import { textPaths } from '../../../contract/agent/text-path.ts';
import { isObject } from '../../../kit/json-object.ts';
import type { Logger } from '../../../kit/logger.ts';
import { queryWithRetries } from '../storage/retry-policy.ts';
import { readFilter, type Condition } from './filter.ts';
import type { Item, NamespaceSearch } from './items.ts';
import { keyProblem, labelsProblem, namespaceProblem } from './namespace.ts';
import { searchItems, type DeploymentStore } from './search.ts';
import type { IndexedPaths } from './semantic-index.ts';

/** An invalid store call of a graph, which fails the run. */
class StoreCallError extends Error {
  constructor(call: string, problem: string) {
    super(`store.${call}: ${problem}.`);
    this.name = 'StoreCallError';
  }
}

/** The search options in the engine's names. */
export interface GraphSearch {
  filter?: Record<string, unknown> | null;
  limit?: number;
  offset?: number;
  query?: string | null;
  refreshTtl?: boolean;
}

/**
 * The store with the engine's interface, over the items of the routes. A run holds no connection between operations,
 * and retries while the database is unavailable.
 */
export class GraphStore {
  readonly #dependencies: DeploymentStore & { log: Logger };

  constructor(parts: DeploymentStore & { log: Logger }) {
    this.#dependencies = parts;
  }

  async get(namespace: string[], key: string): Promise<Item | null> {
    check('get', namespaceProblem(namespace) ?? keyProblem(key, namespace));
    return (await queryWithRetries(() => this.#dependencies.items.get(namespace, key))) ?? null;
  }

  /** Creates an item or replaces its value. `index` has an effect if the store searches by meaning. */
  async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown> | null,
    index?: IndexedPaths,
    options?: { ttl?: number | null } | null,
  ): Promise<void> {
    if (value === null) return this.delete(namespace, key);
    const ttl = options?.ttl;
    check('put', namespaceProblem(namespace) ?? keyProblem(key, namespace));
    check('put', valueProblem(value) ?? indexProblem(index) ?? ttlProblem(ttl));
    const vectors = await this.#dependencies.semanticIndex?.vectorsOf(value, index);
    await queryWithRetries(() => this.#dependencies.items.put(namespace, key, value, ttl, vectors));
  }

  async delete(namespace: string[], key: string): Promise<void> {
    check('delete', namespaceProblem(namespace) ?? keyProblem(key, namespace));
    await queryWithRetries(() => this.#dependencies.items.delete(namespace, key));
  }

  /** One page of the items below a namespace; by meaning if there is a `query` and the store has an index. */
  async search(namespacePrefix: string[], options: GraphSearch = {}): Promise<Item[]> {
    check('search', labelsProblem(namespacePrefix));
    const { query, limit, offset, refreshTtl } = options;
    const conditions = conditionsOf(options.filter);
    const search = { prefix: namespacePrefix, conditions, limit, offset, refresh: refreshTtl };
    return (await searchItems(this.#dependencies, search, query)).items;
  }

  /** One page of the namespaces that contain items. */
  async listNamespaces(options: NamespaceSearch = {}): Promise<string[][]> {
    check('listNamespaces', labelsProblem(options.prefix ?? []) ?? labelsProblem(options.suffix ?? []));
    return queryWithRetries(() => this.#dependencies.items.namespaces(options));
  }

  /** Several operations in the engine's form, one after the other. */
  async batch(operations: readonly object[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const operation of operations) results.push(await this.#one(operation));
    return results;
  }

  /** Does nothing: the server opened the database. */
  start(): void {}

  /** Does nothing: the server closes the database. */
  stop(): void {}

  #one(operation: object): Promise<unknown> {
    const { namespace, key, value, index, options, namespacePrefix, matchConditions, ...rest } = Object(operation);
    if ('namespacePrefix' in operation) return this.search(namespacePrefix, rest);
    if ('value' in operation) return this.put(namespace, key, value, index, options);
    if ('key' in operation) return this.get(namespace, key);
    return this.listNamespaces({ ...matched(matchConditions), ...rest });
  }
}

function check(call: string, problem: string | undefined): void {
  if (problem !== undefined) throw new StoreCallError(call, problem);
}

function valueProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'a value must be an object';
  const isItsOwn = typeof value['toJSON'] === 'function';
  return isItsOwn && !JSON.stringify(value).startsWith('{') ? 'a value must become a JSON object' : undefined;
}

const indexProblem = (index: unknown): string | undefined =>
  index == null || index === false || textPaths.safeParse(index).success
    ? undefined
    : 'index must be false or a list of paths in the value, such as `a.b` or `items[*].text`';

const ttlProblem = (ttl: unknown): string | undefined =>
  ttl == null || (typeof ttl === 'number' && ttl > 0 && ttl <= maxItemTtlMinutes)
    ? undefined
    : `a time to live must be more than 0 and at most ${maxItemTtlMinutes} minutes`;

function conditionsOf(filter: unknown): Condition[] {
  if (filter == null) return [];
  if (!isObject(filter)) throw new StoreCallError('search', 'a filter must be an object');
  const read = readFilter(filter);
  if (!read.ok) throw new StoreCallError('search', `${['filter', ...read.path].join('.')} ${read.problem}`);
  return read.conditions;
}

/** Converts the engine's list of conditions to the one prefix and the one suffix that are supported. */
function matched(conditions: unknown): NamespaceSearch {
  const found: NamespaceSearch = {};
  for (const condition of Array.isArray(conditions) ? conditions : []) {
    const { matchType, path } = Object(condition);
    if (matchType === 'prefix') found.prefix = path;
    else if (matchType === 'suffix') found.suffix = path;
    else throw new StoreCallError('listNamespaces', 'matches by prefix and suffix only');
  }
  return found;
}
