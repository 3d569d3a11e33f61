import { isObject } from '../../kit/json-object.ts';

export type ChangeKind = 'same' | 'changed' | 'added' | 'removed';

/** A key of two values, and whether it differs. */
export interface KeyChange {
  key: string;
  kind: ChangeKind;
  left: unknown;
  right: unknown;
}

/** The keys of two objects in the order of the first, then the new ones. Other values have a single key `''`. */
export function compareKeys(left: unknown, right: unknown): KeyChange[] {
  const [one, other] = [membersOf(left), membersOf(right)];
  if (!one || !other) return [{ key: '', kind: isSame(left, right) ? 'same' : 'changed', left, right }];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => ({
    key,
    kind: kindOf(one, other, key),
    left: one[key],
    right: other[key],
  }));
}

/** Null and absent values have no keys. */
const membersOf = (value: unknown): Record<string, unknown> | undefined =>
  isObject(value) ? value : value == null ? {} : undefined;

function kindOf(left: Record<string, unknown>, right: Record<string, unknown>, key: string): ChangeKind {
  if (!Object.hasOwn(left, key)) return 'added';
  if (!Object.hasOwn(right, key)) return 'removed';
  return isSame(left[key], right[key]) ? 'same' : 'changed';
}

/** Whether two JSON values are equal, ignoring the order of their keys. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, index) => isSame(each, other[index]));
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
    );
  }
  return one === other;
}
