import { canonicalJson, isObject } from '../../kit/json-object.ts';
import { resourceProblems } from '../../contract/control/resource-bounds.ts';
import {
  defaultedResourceFields,
  resourceFields,
  resourceSpec,
  roundCpu,
  unusedResourceFields,
  withResourceDefaults,
  type ResourceSpec,
} from '../../contract/control/resource-spec.ts';
import type { FieldChange, Obstacle, PlanNote } from './plan-types.ts';

/** What becomes of `resource_spec`. `spec` is the whole of it to send, absent where nothing differs. */
export interface ResourcesComparison {
  spec?: ResourceSpec;
  changes: readonly FieldChange[];
  obstacles: readonly Obstacle[];
  notes: readonly PlanNote[];
}

const path = 'source_config.resource_spec';
const unused = new Set<string>(unusedResourceFields);
const schemas = new Map(Object.entries(resourceFields.shape));

/**
 * Compares the requested resources with the current ones by meaning: CPU to one decimal place, an absent field equals
 * its default (docs/design/contract.md#resources), null and empty equal absent. PATCH replaces `resource_spec` whole,
 * so current values that are not requested are sent along. A requested null resets the field to its default.
 */
export function compareResources(requested: ResourceSpec | undefined, held: unknown): ResourcesComparison {
  if (requested === undefined) return { changes: [], obstacles: [], notes: [] };
  const { spec: there, unreadable, unknown } = readableSpec(held);
  const merged = merge(there, requested);
  const [before, after] = [meaning(there), meaning(merged)];
  const changes: FieldChange[] = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !unused.has(field) && !sameValue(before[field], after[field]))
    .map((field) => ({
      field: `${path}.${field}`,
      from: shownValue(before[field]),
      to: shownValue(after[field]),
      makesRevision: true,
      why: { code: Object.hasOwn(requested, field) ? 'resource-differs' : 'resource-default' },
    }));
  const notes: PlanNote[] = Object.keys(requested)
    .filter((field) => unused.has(field))
    .map((field) => ({ code: 'resource-unused', field: `${path}.${field}` }));
  if (changes.length === 0) return { changes, obstacles: [], notes };
  return {
    spec: merged,
    changes,
    obstacles: [
      ...unreadable.filter((field) => !Object.hasOwn(requested, field)).map(cannotBeKept),
      ...contradictions(merged),
    ],
    notes: [...notes, ...unknown.map((field) => ({ code: 'resource-unknown', field: `${path}.${field}` }) as const)],
  };
}

/** The resources to create with, and what is wrong about them. */
export function requestedResources(requested: ResourceSpec): { spec: ResourceSpec; obstacles: Obstacle[] } {
  const spec = merge({}, requested);
  return { spec, obstacles: contradictions(spec) };
}

/** Whether two specs ask for the same, whatever they leave to defaults. */
export function sameResources(one: unknown, other: unknown): boolean {
  const [a, b] = [meaning(readableSpec(one).spec), meaning(readableSpec(other).spec)];
  return [...Object.keys(a), ...Object.keys(b)].every((field) => unused.has(field) || sameValue(a[field], b[field]));
}

/** The part of a reply's spec that may be sent again; the names of fields that could not be read, or are not known. */
export function readableSpec(held: unknown): { spec: ResourceSpec; unreadable: string[]; unknown: string[] } {
  const fields = isObject(held)
    ? Object.entries(held).flatMap(([field, value]) =>
        isNothing(value) ? [] : [[field, without(value, isNull)] as const],
      )
    : [];
  const known = fields.filter(([field]) => schemas.has(field));
  const readable = known.filter(([field, value]) => schemas.get(field)?.safeParse(value).success);
  const spec = resourceFields.safeParse(Object.fromEntries(readable));
  return {
    spec: spec.data ?? {},
    unreadable: known.filter((field) => !readable.includes(field)).map(([field]) => field),
    unknown: fields.filter(([field]) => !schemas.has(field)).map(([field]) => field),
  };
}

/** The current values, overridden by the requested ones. */
function merge(there: ResourceSpec, requested: ResourceSpec): ResourceSpec {
  const merged: ResourceSpec = { ...there, ...rounded(requested) };
  for (const field of fieldsOf(requested)) if (requested[field] == null) delete merged[field];
  // A service may report its defaults as if they had been set. Sending them back would pin the limit of the former CPU
  // on the new one, so a value that equals its default follows the field that it is derived from.
  for (const field of defaultedResourceFields) {
    if (requested[field] !== undefined || defaultOf(field, there) !== there[field]) continue;
    if (defaultOf(field, merged) !== there[field]) delete merged[field];
  }
  return merged;
}

function defaultOf(field: (typeof defaultedResourceFields)[number], spec: ResourceSpec): number | null | undefined {
  const { [field]: _set, ...open } = spec;
  return withResourceDefaults(open)[field];
}

/** CPU as the service will keep it: to one decimal place. */
const rounded = (spec: ResourceSpec): ResourceSpec =>
  Object.fromEntries(
    Object.entries(spec).map(([field, value]) => [
      field,
      isCpu(field) && typeof value === 'number' ? roundCpu(value) : value,
    ]),
  );

const names = resourceFields.keyof().options;

const fieldsOf = (spec: ResourceSpec) => names.filter((field) => Object.hasOwn(spec, field));

/** What the fields together may not be, for example a mount without its volume, or an amount above its own limit. */
function contradictions(spec: ResourceSpec): Obstacle[] {
  const judged = resourceSpec.safeParse(spec);
  return [...(judged.error?.issues ?? []), ...resourceProblems(spec)].map((wrong) => ({
    field: [path, ...wrong.path].join('.'),
    code: 'resources',
    problem: wrong.message,
  }));
}

const cannotBeKept = (field: string): Obstacle => ({ field: `${path}.${field}`, code: 'resource-lost' });

function meaning(spec: ResourceSpec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(withResourceDefaults(spec)).filter(([, value]) => !isNothing(value)));
}

const isCpu = (field: string) => field.includes('cpu');

const isNull = (_: string, each: unknown): boolean => each === null;
const isUnset = (key: string, each: unknown): boolean => each === null || (key === 'value' && each === '');

/** Equal but for nulls, and for the empty `value` that an EnvVar has by default. */
const sameValue = (one: unknown, other: unknown): boolean =>
  canonicalJson(without(one, isUnset)) === canonicalJson(without(other, isUnset));

function without(value: unknown, isLeftOut: (key: string, each: unknown) => boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, isLeftOut));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (isLeftOut(key, each) ? [] : [[key, without(each, isLeftOut)]])),
  );
}

/** Numbers and names as they are; of everything that may hold a value of an environment, only how much there is. */
function shownValue(value: unknown): string | undefined {
  if (isNothing(value)) return undefined;
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? 'entry' : 'entries'}`;
  if (isObject(value)) return Object.keys(value).toSorted().join(', ');
  return String(value);
}

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);
