import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../contract/json-object.ts';

/** How deep fields are named: `source_config.resource_spec.cpu`, and nothing below it. */
const deepest = 3;

/** What a deployment is asked to be, as far as it is compared. */
interface RequestedDeployment {
  source_config: object;
  source_revision_config: object;
  secrets: readonly { name: string }[];
  secret_references: readonly { name: string }[] | null;
}

/**
 * The names of the fields that a change makes others, in alphabetical order; of something new, of all that it has. Secrets
 * and their references are told by their names (`secrets.MODEL_KEY`). Never a value.
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
  // What is listed by name has no fields of its own to be told.
  const further = path === 'secrets' || path === 'secret_references' ? 0 : depth - 1;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differing(path === '' ? key : `${path}.${key}`, left[key], right[key], further),
  );
}
