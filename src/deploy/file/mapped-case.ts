import { isObject } from '../../kit/json-object.ts';
import type { FieldPath, Problem } from '../../kit/diagnostics/problem.ts';

/** What a row says of a smoke test, and which part of the row each part is from. */
export interface MappedCase {
  /** Its `input`, `context` and `expect`. */
  over: Record<string, unknown>;
  sources: (readonly [part: FieldPath, from: FieldPath])[];
  problems: Problem[];
  /** The types of assertions that were left out on purpose. */
  skipped?: string[];
}

/** What a test expects, as it was written. */
export const expectOf = (test: Record<string, unknown>): Record<string, unknown> =>
  isObject(test['expect']) ? test['expect'] : {};

/** Lays expectations of values after those of the test itself. */
export function withValues(
  test: Record<string, unknown>,
  values: readonly { item: Record<string, unknown>; from: FieldPath }[],
): { expect: Record<string, unknown>; sources: MappedCase['sources'] } {
  const expect = expectOf(test);
  const before: unknown[] = Array.isArray(expect['values']) ? expect['values'] : [];
  return {
    expect: { ...expect, values: [...before, ...values.map(({ item }) => item)] },
    sources: values.map(({ from }, index) => [['expect', 'values', before.length + index], from]),
  };
}
