import { isDeepStrictEqual } from 'node:util';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { isExactNumber, type ExactNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';

/** What metadata must contain for the caller to see it: an equal value, or each of a list, as the database's `@>`. */
export type MetadataFilter = Readonly<Record<string, Scalar | readonly Scalar[]>>;
type Scalar = string | number | ExactNumber | boolean | null;

/**
 * Parses `{owner: "ada"}`, `{owner: {$eq: "ada"}}`, and `{members: {$contains: "ada"}}`, also with a list. @throws
 * TypeError for any other filter, which must not match anything.
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
    if (isScalar(value)) return isSame(found, value);
    return Array.isArray(found) && value.every((item) => found.some((each) => isSame(each, item)));
  });
}

/** Narrows the metadata of a search by a filter; undefined if nothing can match both. */
export function narrow(requested: FreeObject, filter: MetadataFilter): FreeObject | undefined {
  const both: FreeObject = { ...requested };
  for (const [key, value] of Object.entries(filter)) {
    const also = requested[key];
    if (also === undefined || isSame(also, value)) both[key] = value;
    else if (Array.isArray(also) && Array.isArray(value)) both[key] = [...also, ...value];
    else return undefined;
  }
  return both;
}

/** Whether two values of JSON are equal, as the database compares them. */
const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) || (isNumber(one) && isNumber(other) && decimal(one) === decimal(other));

const isNumber = (value: unknown): value is number | ExactNumber => typeof value === 'number' || isExactNumber(value);

/** The same text for the same number: `1.0` and `1`. */
function decimal(value: number | ExactNumber): string {
  const text = isExactNumber(value) ? value.rawJSON.replace(/\.0+$/, '') : String(value);
  return /^-?\d+$/.test(text) ? String(BigInt(text)) : text;
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || isNumber(value) || typeof value === 'string' || typeof value === 'boolean';
