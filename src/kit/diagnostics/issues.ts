import * as z from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { allowedWords, formatIssue, kindOf } from './format-issue.ts';
import {
  fieldName,
  type FieldPath,
  leftOut,
  maxProblems,
  type Position,
  type SourcePositions,
  type Problem,
} from './problem.ts';

type Issue = z.core.$ZodIssue;

/** What a schema was held against, and how its paths lead back to what was written. */
export interface Checked {
  schema: z.core.$ZodType;
  /** The value as it was written. */
  value: unknown;
  places: SourcePositions;
  /** From a path of the schema to the path of what was written; as it is where absent. */
  writtenPath?: (path: FieldPath) => FieldPath;
  /** Where the text's own path begins in the name of a field, for example `['deployments', 'support']`. */
  within?: FieldPath;
  /** The writer's spelling of a key of the schema; as it is where absent. */
  spell?: (key: string) => string;
  /** Names that others use for a key of the schema. */
  synonyms?: ReadonlyMap<string, string>;
}

/** Every issue of a schema as problems with their places. */
export function problemsOf(issues: readonly Issue[], checked: Checked): Problem[] {
  const problems: Problem[] = [];
  let more = 0;
  for (const issue of issues) {
    const room = maxProblems - problems.length;
    if (issue.code === 'unrecognized_keys') {
      problems.push(...unknownKeys({ ...issue, keys: issue.keys.slice(0, room) }, checked));
      more += Math.max(0, issue.keys.length - room);
    } else if (room > 0) problems.push(...reported(issue, checked));
    else more += 1;
  }
  return [...problems, ...leftOut(problems.at(-1), more)];
}

function reported(issue: Issue, checked: Checked): Problem[] {
  const inner = issue.code === 'invalid_union' ? meantForm(issue) : undefined;
  if (inner) {
    const whole = inner.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
    return problemsOf(whole, checked);
  }
  const path = fieldPath(issue.path);
  const written = writtenPath(path, checked);
  const found = valueAt(checked.value, written);
  const at = originOf(written, checked);
  const message = formsMessage(issue, fieldName(at.path), found) ?? formatIssue(issue, fieldName(at.path), found);
  return [problem(at, at.places.placeOf(at.path), message, suggestionFor(issue, found))];
}

function unknownKeys(issue: z.core.$ZodIssueUnrecognizedKeys, checked: Checked): Problem[] {
  const path = fieldPath(issue.path);
  const known = knownKeys(checked.schema, path);
  return issue.keys.map((key) => {
    const at = originOf(writtenPath([...path, key], checked), checked);
    const meant = checked.synonyms?.get(key) ?? didYouMean(key, known);
    const message = `\`${fieldName(at.path)}\` is not known`;
    const spelled = meant && (checked.spell?.(meant) ?? meant);
    return problem(at, at.places.placeOfKey(at.path), message, spelled);
  });
}

/** The one form of a union that was probably meant: the only one that the value is of the right kind for. */
function meantForm(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] | undefined {
  const matching = issue.errors.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && wrongKind(code)),
  );
  return matching.length === 1 ? matching[0] : undefined;
}

const wrongKind = (code: Issue['code']): boolean => code === 'invalid_type' || code === 'invalid_value';

/** What a sentence says that a value must be, without what it is. */
function wantedIn(sentence: string): string | undefined {
  const [, wanted] = sentence.split(/must be (.*)/s, 2);
  const comma = wanted?.lastIndexOf(', not ') ?? -1;
  return comma > 0 && wanted?.lastIndexOf(',') === comma ? wanted.slice(0, comma) : wanted;
}

/** A union that the value is of no right kind for: all kinds in one sentence. */
function formsMessage(issue: Issue, name: string, found: unknown): string | undefined {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || found === undefined) return undefined;
  const sentences = issue.errors.flatMap((issues) => issues.filter(({ path }) => path.length === 0).slice(0, 1));
  const wanted = [...new Set(sentences.map((each) => wantedIn(formatIssue(each, '', found))))];
  const words = wanted.filter((word) => word !== undefined);
  if (words.length === 0 || words.length < wanted.length) return undefined;
  return `\`${name}\` must be ${words.join(', or ')}, not ${kindOf(found)}`;
}

function suggestionFor(issue: Issue, found: unknown): string | undefined {
  if (issue.code === 'custom' && typeof issue.params?.['suggestion'] === 'string') return issue.params['suggestion'];
  return typeof found === 'string' ? didYouMean(found, allowedWords(issue)) : undefined;
}

type Origin = ReturnType<SourcePositions['origin'] & {}>;

/** Where the value at a path was written. */
const originOf = (path: FieldPath, { places, within = [] }: Checked): Origin =>
  places.origin?.(path) ?? { places, path, within };

function problem(
  { places, path, within }: Origin,
  place: Position,
  message: string,
  suggestion: string | undefined,
): Problem {
  const field = fieldName([...within, ...path]);
  return { file: places.file, ...place, field, message, suggestion };
}

const writtenPath = (path: FieldPath, checked: Checked): FieldPath => checked.writtenPath?.(path) ?? path;

const fieldPath = (path: readonly PropertyKey[]): FieldPath =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

/** What stands at a path; undefined where nothing does. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part) ? Reflect.get(inner, part) : undefined,
    value,
  );
}

/** The keys that a schema knows for the map at `path`; of every form, where there are several. */
export function knownKeys(schema: z.core.$ZodType, path: FieldPath): string[] {
  let reached = forms(schema);
  for (const part of path) reached = reached.flatMap((form) => inside(form, part)).flatMap(forms);
  return [...new Set(reached.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : [])))];
}

/** A schema without what is wrapped around it, a union as all that it may be. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(forms);
  if (schema instanceof z.ZodLazy) return forms(schema.unwrap());
  if (schema instanceof z.ZodPipe) {
    return forms(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return forms(schema.unwrap());
  }
  return [schema];
}

function inside(form: z.core.$ZodType, part: string | number): z.core.$ZodType[] {
  if (form instanceof z.ZodArray) return [form.element];
  if (form instanceof z.ZodRecord) return [form.valueType];
  if (!(form instanceof z.ZodObject)) return [];
  const field: z.core.$ZodType | undefined = form.shape[part];
  return field ? [field] : [];
}

const place = ({ path }: z.core.$ZodIssue): string => JSON.stringify(path.map(String));

/** Of several bounds that one value is beyond, keeps only the field's own, so that one mistake is reported once. */
export const withoutLooserBounds = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] =>
  issues.filter((issue, index) => {
    const next = issues[index + 1];
    const isBound = issue.code === 'too_big' || issue.code === 'too_small';
    return !(isBound && next?.code === issue.code && place(next) === place(issue));
  });
