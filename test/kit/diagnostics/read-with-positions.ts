import type * as z from 'zod';
import { problemsOf, type Checked } from '../../../src/kit/diagnostics/issues.ts';
import { parseText } from '../../../src/kit/diagnostics/parse.ts';
import { inOrder, type SourcePositions, type Problem } from '../../../src/kit/diagnostics/problem.ts';

/** A value with the places of its parts, or everything that is wrong with it. */
export type WithPositions<T> = ({ ok: true; value: T } & SourcePositions) | { ok: false; problems: Problem[] };

/**
 * Reads a text (YAML 1.2, or strict JSON where `file` ends in `.json`) by a schema. Reports every error at once: all
 * syntax errors, or, if there are none, all errors in the content.
 */
export function readWithPositions<T>(
  text: string,
  file: string,
  schema: z.ZodType<T>,
  options: Pick<Checked, 'synonyms'> = {},
): WithPositions<T> {
  const parsed = parseText(text, file);
  if (!parsed.ok) return parsed;
  const result = schema.safeParse(parsed.value);
  if (result.success) return { ...parsed, value: result.data };
  const checked = { schema, value: parsed.value, places: parsed, ...options };
  return { ok: false, problems: inOrder(problemsOf(result.error.issues, checked)) };
}
