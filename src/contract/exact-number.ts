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
    /** Absent in browsers of before 2025. */
    isRawJSON?(value: unknown): value is ExactNumber;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON?.(value) === true;

/** A value's number, which may be rounded; the value itself if it is none. */
export const asNumber = (value: unknown): unknown => (isExactNumber(value) ? Number(value.rawJSON) : value);

/** Whether a text may hold such a number. To find out is faster than to parse with a look at each. */
const mayHoldOne = /(?<![\d.])\d{16}|\d\.0+(?!\d)|\de\+?\d/i;

/** Parses JSON with such numbers as they were written. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  if (!mayHoldOne.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, { source }) =>
    Number.isInteger(value) && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );
}

/** The same value with plain numbers, rounded where need be. */
export const withPlainNumbers = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
