import { didYouMean } from '../../diagnostics/did-you-mean.ts';
import type { Graph } from './graph.ts';

/** The schema of a graph's context: an object of a schema library of the agent's own, of whichever version. */
export interface ContextSchema {
  /** The keys that it knows, each with its schema. */
  shape: Readonly<Record<string, unknown>>;
  /** What it does with other keys: passes over them, refuses them, or takes them as well. */
  others: 'passed over' | 'refused' | 'taken';
}

/** The schema of a graph's context; undefined where it has none at run time. */
export const contextSchemaOf = ({ builder }: Pick<Graph, 'builder'>): ContextSchema | undefined =>
  objectSchema(memberOf(builder, '_configRuntimeSchema'));

/** A schema of objects, inside its defaults and whatever else is wrapped around it; undefined for any other. */
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
  // Versions before 4 have a word for it, and a catchall beside.
  const word = memberOf(def, 'unknownKeys');
  if (word === 'strict') return 'refused';
  if (word === 'strip') return kind === 'ZodNever' || kind === undefined ? 'passed over' : 'taken';
  if (kind === undefined) return word === undefined ? 'passed over' : 'taken';
  return kind === 'never' ? 'refused' : 'taken';
}

/**
 * The key that was meant by one of a context that its schema passes over: one that looks like a slip of the finger, where
 * what it looks like is not there. Other keys may be meant for somebody else: a graph hands its whole context to one that
 * is elsewhere.
 */
export function slipsIn(
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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const memberOf = (value: unknown, name: string): unknown =>
  (typeof value === 'object' && value !== null) || typeof value === 'function' ? Reflect.get(value, name) : undefined;
