import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isObject } from '../../contract/json-object.ts';
import { missing, Refusal } from '../refusal.ts';
import type { Access } from './access.ts';
import { AuthRefusal } from './auth-refusal.ts';
import { holds } from './filters.ts';
import type { Wanted } from './filters.ts';
import { ask } from './question.ts';
import type { Questioned } from './question.ts';
import { readObject, rewriteBody, rewriteQuery } from './request-body.ts';

/** Finds an item's value; undefined where there is none. */
export type FindItem = (namespace: readonly string[], key: string) => Promise<FreeObject | undefined>;

type Store = Extract<Access, { does: 'store' }>;

/**
 * Something with the store. A handler mostly puts its caller's name before the namespace, or refuses; a filter is held
 * against an item's value, with its `namespace` and `key`.
 */
export async function askAboutStore(question: Questioned, { action }: Store, findItem: FindItem): Promise<void> {
  if (action === 'get') return askToGet(question, findItem);
  const body = await readObject(question.c);
  const field = action === 'search' ? 'namespace_prefix' : action === 'list_namespaces' ? 'prefix' : 'namespace';
  const value: FreeObject = { ...body, namespace: labels(body[field] ?? []) };
  if (field !== 'namespace') delete value[field];
  const wanted = await ask(question, 'store', action, value);
  const { namespace: asked, ...rest } = value;
  const namespace = labels(asked ?? []);
  if (wanted !== undefined)
    await mustBeOf(action, wanted, { namespace, key: value['key'], value: value['value'] }, findItem);
  rewriteBody(question.c, { ...rest, [field]: namespace });
}

async function askToGet(question: Questioned, findItem: FindItem): Promise<void> {
  const query = new URL(question.c.req.url).searchParams;
  const key = query.get('key') ?? '';
  const value: FreeObject = { namespace: namespaceIn(query), key };
  const wanted = await ask(question, 'store', 'get', value);
  const [namespace, asked] = [labels(value['namespace'] ?? []), String(value['key'])];
  if (wanted !== undefined) await mustBeOf('get', wanted, { namespace, key: asked, value: undefined }, findItem);
  query.delete('namespace');
  if (namespace.length > 0) query.set('namespace', namespace.join('.'));
  query.set('key', asked);
  rewriteQuery(question.c, query);
}

/** Holds an item to a filter: the one that is there, and the one that is written. */
async function mustBeOf(
  action: Store['action'],
  wanted: Wanted,
  { namespace, key, value }: { namespace: string[]; key: unknown; value: unknown },
  findItem: FindItem,
): Promise<void> {
  if (action === 'search' || action === 'list_namespaces') {
    throw new AuthRefusal(403, "This agent's rules filter what is stored, and this server filters no searches of it.");
  }
  const there = await findItem(namespace, String(key));
  if (there !== undefined && !holds({ ...there, namespace, key }, wanted)) throw missing('There is no such item.');
  if (action === 'put' && !holds({ ...(isObject(value) ? value : {}), namespace, key }, wanted)) {
    throw new AuthRefusal(403, 'Forbidden');
  }
}

/** `namespace=a.b`, or once for each label. */
function namespaceIn(query: URLSearchParams): string[] {
  const given = query.getAll('namespace');
  return given.flatMap((part) => (part === '' ? [] : part.split('.')));
}

function labels(namespace: unknown): string[] {
  if (Array.isArray(namespace) && namespace.every((label) => typeof label === 'string')) return namespace;
  throw new Refusal(422, [{ loc: ['body', 'namespace'], msg: 'must be a list of texts', type: 'value_error' }]);
}
