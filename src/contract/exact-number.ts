/**
 * A number of JSON as it was written, where a number of JavaScript would lose something: an integer beyond 2^53, or
 * `1.0`, which is no integer in Python. `JSON.stringify` writes it as it was.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): ExactNumber;
    /** Absent in browsers before 2025. */
    isRawJSON?(value: unknown): value is ExactNumber;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON?.(value) === true;

/** A value's number, which may be rounded; the value itself if it is none. */
export const asNumber = (value: unknown): unknown => (isExactNumber(value) ? Number(value.rawJSON) : value);

/** Where a number may stand: 16 digits, a fraction of zeros, an exponent. */
const mayBeOne = /(?:^|[:,[\s])-?(?:\d{16}|\d+\.0+(?!\d)|\d+(?:\.\d+)?e)/i;
/** A longer text is rounded: databases have limits. */
const maxLength = 1_000;

/** Whether a text of JSON may hold such a number. To find out is faster than to parse with a look at each. */
export const mayHoldExactNumber = (json: string): boolean => mayBeOne.test(json);

/** Parses JSON with such numbers as they were written. @throws SyntaxError */
export function parseExactly(json: string): unknown {
  if (!mayHoldExactNumber(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value, { source }) => (source === undefined ? value : exactly(value, source)));
}

function exactly(value: unknown, source: string): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || source.length > maxLength) return value;
  // Databases write exponents out, as if they were integers.
  if (/e/i.test(source)) return JSON.rawJSON(`${BigInt(value)}.0`);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** The same value with plain numbers, rounded where need be. */
export const withPlainNumbers = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
