import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { toPlainNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';
import { invalidAt, missing, Refusal, unacceptable } from '../refusal.ts';
import { labelsProblem } from '../store/namespace.ts';
import type { AccessTo } from './access.ts';
import { matches, type MetadataFilter } from './filters.ts';
import { callAuthHandler, type AuthorizationContext } from './call-auth-handler.ts';
import { readObject, rewriteBody, rewriteQuery } from './request-body.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** What the items that a search may find must match, by the agent's authorization rules. */
    storeFilter?: MetadataFilter | undefined;
  }
}

/** Finds an item's value; undefined if there is none. */
export type FindItem = (namespace: readonly string[], key: string) => Promise<FreeObject | undefined>;

/**
 * Authorizes a store operation. A handler usually prefixes the namespace, or refuses; a filter matches the item's
 * value, `namespace` and `key`, also of what searches find. @returns the response for a hidden item: as for a missing
 * one.
 */
export async function authorizeStore(
  question: AuthorizationContext,
  { action }: AccessTo<'store'>,
  findItem: FindItem,
): Promise<Response | undefined> {
  if (action === 'get') return authorizeGet(question, findItem);
  const body = await readObject(question.c);
  const field = action === 'search' ? 'namespace_prefix' : action === 'list_namespaces' ? 'prefix' : 'namespace';
  const value: FreeObject = { ...body, namespace: labels(body[field] ?? []) };
  if (field !== 'namespace') delete value[field];
  const filter = await callAuthHandler(question, 'store', action, value);
  const { namespace: requested, ...rest } = value;
  const namespace = labels(requested ?? []);
  if (action === 'search' || action === 'list_namespaces') question.c.set('storeFilter', filter);
  else if (filter !== undefined) {
    const key = String(toPlainNumber(value['key']));
    const existing = await findItem(namespace, key);
    if (existing !== undefined && !isOf(filter, namespace, key, existing))
      throw missing('Item not found. There is no such item.');
    if (action === 'put' && !isOf(filter, namespace, key, value['value'])) throw new Refusal(403, 'Forbidden');
  }
  rewriteBody(question.c, { ...rest, [field]: namespace });
  return undefined;
}

async function authorizeGet(question: AuthorizationContext, findItem: FindItem): Promise<Response | undefined> {
  const { c } = question;
  const query = new URL(c.req.url).searchParams;
  const value: FreeObject = { namespace: namespaceIn(query), key: query.get('key') ?? '' };
  const filter = await callAuthHandler(question, 'store', 'get', value);
  const [namespace, key] = [labels(value['namespace'] ?? []), String(value['key'])];
  // The query joins labels by periods: a period in a label would let a caller reach another namespace.
  const problem = labelsProblem(namespace);
  if (problem !== undefined) throw invalidAt(['query', 'namespace'], problem);
  const existing = filter && (await findItem(namespace, key));
  if (filter && existing && !isOf(filter, namespace, key, existing)) return c.json(null);
  query.delete('namespace');
  if (namespace.length > 0) query.set('namespace', namespace.join('.'));
  query.set('key', key);
  rewriteQuery(c, query);
  return undefined;
}

/** Whether a filter matches an item's value, namespace and key. */
const isOf = (filter: MetadataFilter, namespace: string[], key: string, value: unknown): boolean =>
  matches({ ...(isObject(value) ? value : {}), namespace, key }, filter);

/** Reads `namespace=a.b`, or one parameter for each label. */
const namespaceIn = (query: URLSearchParams): string[] =>
  query.getAll('namespace').flatMap((part) => (part === '' ? [] : part.split('.')));

function labels(namespace: unknown): string[] {
  if (Array.isArray(namespace) && namespace.every((label) => typeof label === 'string')) return namespace;
  throw unacceptable('namespace', 'must be a list of texts');
}
