import { isExactNumber } from './exact-number.ts';

/** Whether a value is a JSON object: neither null nor an array, and no number kept as it was written. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** JSON with the members of every object in the order of their names: equal values are equal texts. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
