import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../contract/json-object.ts';

/** The depth of named fields: `source_config.resource_spec.cpu`, and nothing below it. */
const deepest = 3;

/** The requested state of a deployment, as far as it is compared. */
interface RequestedDeployment {
  source_config: object;
  source_revision_config: object;
  secrets: readonly { name: string }[];
  secret_references: readonly { name: string }[] | null;
}

/**
 * The names of the fields that a change affects, in alphabetical order; for a new deployment, all its fields. Secrets and
 * their references appear by name (`secrets.MODEL_KEY`). Never contains a value.
 */
export function changedFields(before: RequestedDeployment | undefined, after: RequestedDeployment): string[] {
  return differing('', before && byName(before), byName(after), deepest).sort();
}

const byName = ({ source_config, source_revision_config, secrets, secret_references }: RequestedDeployment) => ({
  source_config,
  source_revision_config,
  secrets: named(secrets),
  secret_references: named(secret_references ?? []),
});

const named = (list: readonly { name: string }[]): object =>
  Object.fromEntries(list.map((entry) => [entry.name, entry]));

function differing(path: string, before: unknown, after: unknown, depth: number): string[] {
  const [one, other] = [before ?? undefined, after ?? undefined];
  if (isDeepStrictEqual(one, other)) return [];
  const goesDown = depth > 0 && [one, other].every((value) => value === undefined || isObject(value));
  if (!goesDown) return [path];
  const [left, right] = [isObject(one) ? one : {}, isObject(other) ? other : {}];
  // Entries that are listed by name have no fields of their own.
  const further = path === 'secrets' || path === 'secret_references' ? 0 : depth - 1;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differing(path === '' ? key : `${path}.${key}`, left[key], right[key], further),
  );
}
