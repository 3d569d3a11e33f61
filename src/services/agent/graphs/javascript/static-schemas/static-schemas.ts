import * as z from 'zod';
import { freeObject, type FreeObject } from '../../../../../contract/agent/open-word.ts';
import { isObject } from '../../../../../kit/json-object.ts';

/** The schemas of a graph by its types in TypeScript; unknown ones are absent. */
const graphSchemas = z.object({
  state: freeObject.optional(),
  input: freeObject.optional(),
  output: freeObject.optional(),
  context: freeObject.optional(),
});
export type StaticGraphSchemas = z.infer<typeof graphSchemas>;

/** What a build reads from an agent's types. */
export const staticSchemas = z.object({
  graphs: z.record(z.string(), graphSchemas),
  /** The graphs that are nodes of others, by the nodes' names, which several graphs may use. */
  nodes: z.record(z.string(), z.array(graphSchemas)),
});
export type StaticSchemas = z.infer<typeof staticSchemas>;

/** The schemas of a subgraph among those of all nodes of its name: the single one of the same channels. */
export function schemasOfNode(
  schemas: StaticSchemas | undefined,
  namespace: string,
  channels: readonly string[],
): StaticGraphSchemas | undefined {
  const node = namespace.split('|').at(-1) ?? '';
  const named = schemas && Object.hasOwn(schemas.nodes, node) ? schemas.nodes[node] : undefined;
  const wanted = channels.toSorted().join(' ');
  const same = (named ?? []).filter(({ state }) => propertyNames(state).toSorted().join(' ') === wanted);
  return new Set(same.map((one) => JSON.stringify(one))).size === 1 ? same[0] : undefined;
}

/** Completes a schema that has the channels' names (`named`) by the types of those that nothing else is known of. */
export function withTypes(named: FreeObject, typed: FreeObject | undefined): FreeObject {
  const { properties } = named;
  const types = typed?.['properties'];
  if (!isObject(properties) || !isObject(types)) return named;
  const complete = Object.entries(properties).map(([name, schema]: [string, unknown]) => {
    const isKnown = !isObject(schema) || Object.keys(schema).length > 0;
    return [name, !isKnown && Object.hasOwn(types, name) ? types[name] : schema];
  });
  const definitions = typed?.['$defs'];
  return { ...named, properties: Object.fromEntries(complete), ...(isObject(definitions) && { $defs: definitions }) };
}

const propertyNames = (schema: FreeObject | undefined): string[] => {
  const properties = schema?.['properties'];
  return isObject(properties) ? Object.keys(properties) : [];
};
