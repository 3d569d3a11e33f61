import type { FieldProblem } from '../../contract/service-error.ts';

/** How deep a request may be nested. */
const deepest = 64;

/**
 * Every text of a request, keys included, that could not be kept: with a NUL character, or half of a character
 * outside the basic plane. Postgres takes neither.
 */
export function textProblems(value: unknown, at: (string | number)[]): FieldProblem[] {
  if (at.length > deepest)
    return [{ loc: at.slice(0, 8), msg: `Nested deeper than ${deepest} levels`, type: 'too_deep' }];
  if (typeof value === 'string') return isKeepable(value) ? [] : [unkeepable(at)];
  if (Array.isArray(value)) return value.flatMap((item, index) => textProblems(item, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    isKeepable(key) ? textProblems(item, [...at, key]) : [unkeepable(at)],
  );
}

const isKeepable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const unkeepable = (loc: (string | number)[]): FieldProblem => ({
  loc,
  msg: 'Holds a NUL character or half of a surrogate pair',
  type: 'unicode',
});
