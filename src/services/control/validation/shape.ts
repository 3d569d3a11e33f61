import type * as z from 'zod';
import { spellFields } from '../../../contract/control/aliases.ts';
import { valueAt, withoutLooserBounds } from '../../../kit/diagnostics/issues.ts';
import type { FieldProblem } from '../../../contract/service-error.ts';
import { accepted, wrongShape, type ValidationResult } from './refusal.ts';
import { textProblems } from './text.ts';

type Path = (string | number)[];
/** The part of a request that holds a value. */
export type RequestPart = 'body' | 'query' | 'path' | 'header';

/**
 * Parses a body in either spelling of its fields (see `fieldAliases`). Unknown fields are refused where `isStrict`: what
 * grants rights must not mean less than what was written.
 */
export function readBody<T>(
  schema: z.ZodType<T>,
  body: unknown,
  { isStrict = false }: { isStrict?: boolean } = {},
): ValidationResult<T> {
  // First, because a body may be nested deeper than the stack allows.
  const badText = textProblems(body, ['body']);
  return badText.length > 0
    ? wrongShape(badText)
    : readShape(schema, spellFields(body, 'contract'), 'body', { isStrict });
}

/**
 * Parses a part of a request by the contract's schema and returns every problem at once
 * (docs/design/contract.md#errors). Ignores unknown fields, so that newer clients work; known ones are strict.
 *
 * @param within the part of the request, the start of every `loc`.
 */
export function readShape<T>(
  schema: z.ZodType<T>,
  input: unknown,
  within: RequestPart,
  { isStrict = false }: { isStrict?: boolean } = {},
): ValidationResult<T> {
  const badText = textProblems(input, [within]);
  if (badText.length > 0) return wrongShape(badText);
  if (input === undefined) return wrongShape([missing([within])]);
  const known = structuredClone(input);
  for (;;) {
    const read = schema.safeParse(known);
    if (read.success) return accepted(read.data);
    const unknown = read.error.issues.filter((issue) => issue.code === 'unrecognized_keys');
    if (unknown.length === 0 || isStrict) {
      return wrongShape(withoutLooserBounds(read.error.issues).flatMap((issue) => problemsOf(issue, known, within)));
    }
    for (const { path, keys } of unknown) drop(valueAt(known, path), keys);
  }
}

function problemsOf(issue: z.core.$ZodIssue, input: unknown, within: string): FieldProblem[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  const loc = [within, ...path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ loc: [...loc, key], msg: 'Unknown field', type: issue.code }));
  }
  if (missingCodes.has(issue.code) && valueAt(input, path) === undefined) return [missing(loc)];
  return [{ loc, msg: issue.message, type: issue.code }];
}

/** What a schema reports of an absent field: its type, its choice, or which of several schemas it selects. */
const missingCodes: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

const missing = (loc: Path): FieldProblem => ({ loc, msg: 'Field required', type: 'missing' });

function drop(from: unknown, keys: readonly string[]): void {
  if (typeof from !== 'object' || from === null) throw new Error('unrecognized keys were found in no object');
  for (const key of keys) Reflect.deleteProperty(from, key);
}
