import type * as z from 'zod';
import { withoutLooserBounds } from '../../../kit/diagnostics/issues.ts';
import type { FieldProblem } from '../../../contract/service-error.ts';

type Issue = z.core.$ZodIssue;

/** Lists the invalid fields of a part of a request, which is `at` a place such as `['body']`. */
export const problemsOf = (error: z.ZodError, at: readonly string[]): FieldProblem[] =>
  withoutLooserBounds(error.issues)
    .flatMap(reported)
    .map((issue) => ({
      loc: [...at, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))],
      ...(isMissing(issue) ? missingField : { msg: inWords(issue.message), type: issue.code }),
    }));

/** The problem of a missing required field, as the control service reports it. */
const missingField = { msg: 'Field required', type: 'missing' } as const;

const isMissing = ({ code, message }: Issue): boolean =>
  code === 'invalid_type' && message.endsWith(', received undefined');

/** Users know records as objects. */
const inWords = (message: string): string => message.replace('expected record', 'expected an object');

function reported(issue: Issue): Issue[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ ...issue, path: [...issue.path, key] }));
  return issue.code === 'invalid_union' && issue.errors.length > 0 ? ofForms(issue, issue.path, issue.errors) : [issue];
}

/** For a union: what is wrong within the intended variant, else the list of variants. */
function ofForms(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[], forms: readonly (readonly Issue[])[]) {
  const meant = forms.filter((form) => !form.some(isOfAnotherKind));
  const [first, ...others] = meant;
  const lacks = meant.flatMap((form) => form.slice(0, 1)).filter(isMissing);
  if (!first) return [{ ...issue, path, message: formsOf(forms.map((form) => form.filter(isOfAnotherKind))) }];
  const place = first[0]?.path ?? [];
  const isSamePlace = (form: readonly Issue[]) => JSON.stringify(form[0]?.path) === JSON.stringify(place);
  // Variants that differ in one place only are one variant up to there.
  if (others.length > 0 && place.length > 0 && others.every(isSamePlace)) {
    if (lacks.length === meant.length) return lacks.slice(0, 1).map((each) => ({ ...each, path: [...path, ...place] }));
    const inner = meant.map((form) => form.slice(0, 1).map((each) => ({ ...each, path: [] })));
    return ofForms(issue, [...path, ...place], inner);
  }
  return withoutLooserBounds(first).flatMap((inner) => reported({ ...inner, path: [...path, ...inner.path] }));
}

/** Whether a variant was not intended at all: the value has another type, or another literal. */
const isOfAnotherKind = ({ path, code }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union');

function formsOf(forms: readonly (readonly Issue[])[]): string {
  const words = new Set(forms.flat().flatMap(reported).flatMap(expected));
  return `Invalid input: expected ${[...words].join(' or ')}`;
}

function expected(issue: Issue): string[] {
  if (issue.code === 'invalid_type') return [issue.expected === 'record' ? 'object' : issue.expected];
  if (issue.code !== 'invalid_value') return [issue.message.replace(/^Invalid input: expected /, '')];
  const words = issue.values.map((word) => JSON.stringify(word)).join('|');
  return [issue.values.length > 1 ? `one of ${words}` : words];
}
