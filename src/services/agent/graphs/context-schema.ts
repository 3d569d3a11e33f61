import { isObject } from '../../../kit/json-object.ts';
import { didYouMean } from '../../../kit/diagnostics/did-you-mean.ts';
import { memberOf } from '../members.ts';
import type { ContextSchema, Graph } from './graph.ts';

/** The schema of a graph's context; undefined if it has none at run time. */
export const contextSchemaOf = ({
  contextSchema,
  builder,
}: Pick<Graph, 'builder' | 'contextSchema'>): ContextSchema | undefined =>
  contextSchema ?? objectSchema(memberOf(builder, '_configRuntimeSchema'));

/** Unwraps an object schema from defaults and other wrappers; undefined for any other schema. */
export function objectSchema(schema: unknown): ContextSchema | undefined {
  const def = memberOf(memberOf(schema, '_zod'), 'def') ?? memberOf(schema, '_def');
  const shape = memberOf(schema, 'shape');
  if (isObject(shape)) return { shape: { ...shape }, others: othersOf(def) };
  const inner = memberOf(def, 'innerType');
  return inner === undefined ? undefined : objectSchema(inner);
}

function othersOf(def: unknown): ContextSchema['others'] {
  const catchall = memberOf(def, 'catchall');
  const kind =
    memberOf(memberOf(memberOf(catchall, '_zod'), 'def'), 'type') ?? memberOf(memberOf(catchall, '_def'), 'typeName');
  // Versions before 4 have a keyword for it, and a catchall beside it.
  const word = memberOf(def, 'unknownKeys');
  if (word === 'strict') return 'refused';
  if (word === 'strip') return kind === 'ZodNever' || kind === undefined ? 'passed over' : 'taken';
  if (kind === undefined) return word === undefined ? 'passed over' : 'taken';
  return kind === 'never' ? 'refused' : 'taken';
}

/**
 * Finds probable typos: keys that the schema ignores, similar to a known key that is absent. Other unknown keys may be
 * meant for a remote graph, which receives the whole context.
 */
export function contextErrors(
  context: Readonly<Record<string, unknown>>,
  schema: ContextSchema,
): [key: string, meant: string][] {
  if (schema.others !== 'passed over') return [];
  const free = Object.keys(schema.shape).filter((name) => !Object.hasOwn(context, name));
  return Object.keys(context).flatMap((key): [string, string][] => {
    if (Object.hasOwn(schema.shape, key)) return [];
    const meant = didYouMean(key, free);
    return meant === undefined ? [] : [[key, meant]];
  });
}
