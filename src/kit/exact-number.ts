/**
 * A JSON number that keeps its text, because a JavaScript number would change it: an integer beyond 2^53, or `1.0`, which
 * Python reads as a float. Fractions stay plain numbers: Python rounds them too. `JSON.stringify` writes the text.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): ExactNumber;
    /** Older browsers lack it, and this module runs there too. */
    isRawJSON?(value: unknown): value is ExactNumber;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON?.(value) === true;

/** Converts an exact number to a plain one, which may be rounded; returns any other value unchanged. */
export const toPlainNumber = (value: unknown): unknown => (isExactNumber(value) ? Number(value.rawJSON) : value);

/** Matches 16 digits, a fraction of zeros, or an exponent. It may match in a string too, which only costs time. */
const exactNumberPattern = /(?:^|[:,[\s])-?(?:\d{16}|\d+\.0+(?!\d)|\d+(?:\.\d+)?e)/i;
/** Longer numbers are rounded: Postgres limits the digits of a `numeric`. */
const maxNumberLength = 1_000;

/** Whether a JSON text may contain an exact number. A regular expression is faster than a reviver. */
export const mayContainExactNumber = (json: string): boolean => exactNumberPattern.test(json);

/** Parses JSON, keeping exact numbers. @throws SyntaxError */
export function parseExactly(json: string): unknown {
  if (!mayContainExactNumber(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value, { source }) => (source === undefined ? value : exactNumberOf(value, source)));
}

function exactNumberOf(value: unknown, source: string): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || source.length > maxNumberLength) return value;
  // Postgres stores `1e3` as `1000`; with `.0` it stays a float.
  if (/e/i.test(source)) return JSON.rawJSON(`${BigInt(value)}.0`);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** Copies a JSON value with plain numbers. */
export const toPlainNumbers = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
