import { isDeepStrictEqual } from 'node:util';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isObject } from '../../contract/json-object.ts';

/**
 * What the metadata of a resource must contain for the caller to see it: an equal value, or each value of a list.
 * Equivalent to the database's `@>` for these two forms.
 */
export type MetadataFilter = Readonly<Record<string, Scalar | readonly Scalar[]>>;
type Scalar = string | number | boolean | null;

/**
 * Parses a handler's filters: `{owner: "ada"}`, `{owner: {$eq: "ada"}}`, `{members: {$contains: "ada"}}`, or
 * `$contains` with a list.
 *
 * @throws TypeError for any other filter, which must not match anything.
 */
export function parseFilter(filters: object): MetadataFilter {
  return Object.fromEntries(Object.entries(filters).map(([key, filter]) => [key, parseValue(key, filter)]));
}

function parseValue(key: string, filter: unknown): Scalar | readonly Scalar[] {
  if (isScalar(filter)) return filter;
  const [[operator, operand] = [], ...others] = isObject(filter) ? Object.entries(filter) : [];
  if (others.length === 0 && operator === '$eq' && isScalar(operand)) return operand;
  if (others.length === 0 && operator === '$contains') {
    const items: unknown[] = Array.isArray(operand) ? operand : [operand];
    if (items.every(isScalar)) return items;
  }
  throw new TypeError(`The filter of "${key}" is neither a value nor {$eq: value} nor {$contains: value or list}.`);
}

/** Whether metadata matches a filter. */
export function matches(metadata: FreeObject, filter: MetadataFilter): boolean {
  return Object.entries(filter).every(([key, value]) => {
    const found = metadata[key];
    if (isScalar(value)) return found === value;
    return Array.isArray(found) && value.every((item) => found.includes(item));
  });
}

/** Narrows the metadata of a search by a filter; undefined if nothing can match both. */
export function narrow(requested: FreeObject, filter: MetadataFilter): FreeObject | undefined {
  const both: FreeObject = { ...requested };
  for (const [key, value] of Object.entries(filter)) {
    const also = requested[key];
    if (also === undefined || isDeepStrictEqual(also, value)) both[key] = value;
    else if (Array.isArray(also) && Array.isArray(value)) both[key] = [...also, ...value];
    else return undefined;
  }
  return both;
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
