import { problemsOf } from '../../kit/diagnostics/issues.ts';
import {
  eachOnce,
  fieldName,
  type FieldPath,
  type Position,
  type SourcePositions,
  type Problem,
} from '../../kit/diagnostics/problem.ts';
import { synonyms, toKebab, writtenPath } from './spelling.ts';
import type * as z from 'zod';
import type { Named } from './desired.ts';
import type { EnvironmentGate } from './environment-gate.ts';

/** One field of a deployment as it was written, in the file or as an input. */
export interface WrittenField {
  value: unknown;
  /** Its places, by paths that begin with the field's name. */
  places: SourcePositions;
  /** What stands before the field's name in the file: `['deployments', 'support']`; nothing for an input. */
  within: FieldPath;
}

/** One deployment as it was written: fields by the name that a person wrote, and where it stands as a whole. */
export interface Draft {
  fields: ReadonlyMap<string, WrittenField>;
  file: string;
  place: Position;
  within: FieldPath;
}

/** One deployment of a file: `key` is what it stands under in `deployments`, absent where the file is one deployment. */
export interface FileDraft extends Draft {
  key?: string;
  /** Whether the file orders its deployments by environments. */
  isOrdered?: boolean;
  /** The deployment of the environment before, whose proven commit is deployed. */
  after?: Named;
  /** What keeps deploys from its environment. */
  gate?: EnvironmentGate;
}

/** How a deployment of a file is found at the service. */
export function identityOf({ fields, key }: FileDraft): Named {
  const name = fields.get('name')?.value ?? key;
  const id = fields.get('deployment-id')?.value;
  return {
    ...(typeof name === 'string' ? { name: name.trim() } : {}),
    ...(typeof id === 'string' ? { deploymentId: id.trim().toLowerCase() } : {}),
  };
}

/** A deployment's file with the inputs beside it: an input wins over the field of its name. */
export const overridden = <Written extends Draft>(
  draft: Written,
  inputs: ReadonlyMap<string, WrittenField>,
): Written => ({
  ...draft,
  fields: new Map([...draft.fields, ...inputs]),
});

/** A problem of one field, reported at its key, or at `path` within it. */
export function fieldProblem(written: WrittenField, path: FieldPath, message: string, suggestion?: string): Problem {
  const { places, within } = written;
  const place = path.length > 1 ? places.placeOf(path) : places.placeOfKey(path);
  const field = fieldName([...within, ...path]);
  return { file: places.file, ...place, field, message, suggestion };
}

/** A problem of a deployment as a whole, or of a field that it misses. */
export const draftProblem = ({ file, place, within }: Draft, message: string, missing?: string): Problem => ({
  file,
  ...place,
  field: fieldName(within),
  message,
  ...(missing === undefined ? {} : { missing }),
});

/** The values of a draft under our own spelling, as the schemas of the fields take them. */
export function valuesOf(draft: Draft, spell: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries([...draft.fields].map(([name, { value }]) => [spell(name), value]));
}

/** What a schema of our spelling found wrong in a draft, each at the field that it is about. */
export function issueProblems(issues: readonly z.core.$ZodIssue[], schema: z.core.$ZodType, draft: Draft): Problem[] {
  const values = valuesOf(draft, (name) => name);
  const problems = issues.flatMap((issue) => {
    const written = draft.fields.get(toKebab(String(issue.path[0])));
    if (!written) return [draftProblem(draft, issue.message)];
    return problemsOf([issue], {
      schema,
      value: values,
      places: written.places,
      within: written.within,
      writtenPath: (path) => writtenPath(values, path),
      spell: toKebab,
      synonyms,
    });
  });
  // What is wrong with a test that names a file of cases is wrong with the test of each case.
  return eachOnce(problems);
}
