import type { FieldProblem } from '../../../contract/service-error.ts';

const deepest = 64;

/** The most values of a request, fields and items together: more are never needed, and take seconds to check. */
const maxValues = 20_000;

/** The most commas and opening brackets that so many values take. */
export const maxSigns = 2 * maxValues + 1;

/** The problem of a request with more values. */
export const tooManyValues = (loc: (string | number)[]): FieldProblem => ({
  loc,
  msg: `Holds more than ${maxValues} values`,
  type: 'too_many',
});

/** The texts of a request, keys included, that Postgres can't store; of an oversized request, only that problem. */
export function textProblems(value: unknown, at: (string | number)[]): FieldProblem[] {
  if (holdsTooMuch(value)) return [tooManyValues(at)];
  return problemsIn(value, at);
}

function holdsTooMuch(value: unknown): boolean {
  const waiting = [value];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    count += inner.length;
    if (count > maxValues) return true;
    waiting.push(...inner.filter((one) => one !== undefined));
  }
  return false;
}

function problemsIn(value: unknown, at: (string | number)[]): FieldProblem[] {
  if (at.length > deepest)
    return [{ loc: at.slice(0, 8), msg: `Nested deeper than ${deepest} levels`, type: 'too_deep' }];
  if (typeof value === 'string') return isStorable(value) ? [] : [unstorable(at)];
  if (Array.isArray(value)) return value.flatMap((item, index) => problemsIn(item, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    isStorable(key) ? problemsIn(item, [...at, key]) : [unstorable(at)],
  );
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const unstorable = (loc: (string | number)[]): FieldProblem => ({
  loc,
  msg: 'Holds a NUL character or half of a surrogate pair',
  type: 'unicode',
});
