import { isExactNumber } from './exact-number.ts';

/** Whether a value is a JSON object: neither null nor an array, and no number kept as it was written. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
