import { isObject } from '../../../kit/json-object.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { memberOf } from '../members.ts';
import { contextSchemaOf, objectSchema } from './context-schema.ts';
import type { Engine } from './javascript/engine.ts';
import type { ContextSchema, GraphInside, GraphSchemaSet } from './graph.ts';
import { withTypes, type StaticGraphSchemas } from './javascript/static-schemas/static-schemas.ts';

/** How the engine marks messages in its own schemas. */
export const messagesSchema = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' } as const;

/**
 * The JSON schemas of a graph: the engine's own for a state with types at run time, else the channels' names with the
 * types that the build read. @param types undefined without a build, or where it could not.
 */
export async function schemasOf(
  graph: GraphInside,
  engine: Pick<Engine, 'schemaReaders' | 'joinsMessages'>,
  types?: StaticGraphSchemas,
): Promise<GraphSchemaSet> {
  if (graph.ownSchemas) return graph.ownSchemas();
  const readers = await engine.schemaReaders();
  const named = (part: ChannelPart, typed: FreeObject | undefined) => {
    const names = namesOf(graph, part, engine.joinsMessages);
    return names && withDialect(withTypes(names, typed));
  };
  const input = reported(() => readers?.getInputTypeSchema(graph)) ?? named('_inputDefinition', types?.input);
  const output = reported(() => readers?.getOutputTypeSchema(graph)) ?? named('_outputDefinition', types?.output);
  const state = reported(() => readers?.getStateTypeSchema(graph)) ?? named('_schemaDefinition', types?.state);
  const context = reported(() => readers?.getConfigTypeSchema(graph));
  // As the input is sent: the engine returns the schema of the parsed value.
  const accepted = context
    ? allowIgnoredKeys(withoutDefaultsRequired(context), contextSchemaOf(graph))
    : types?.context && withDialect(types.context);
  return {
    ...(input && { input_schema: input }),
    ...(output && { output_schema: output }),
    state_schema: state ?? {},
    ...(accepted && { config_schema: accepted, context_schema: accepted }),
  };
}

/** Names the dialect of a schema that is not the engine's, which names its own; of `{}` there is nothing to read. */
const withDialect = (schema: FreeObject): FreeObject =>
  Object.keys(schema).length === 0 ? schema : { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema };

/** Reads a schema from the engine; undefined also for a type without a JSON schema, for which libraries throw. */
function reported(read: () => unknown): FreeObject | undefined {
  try {
    const schema = read();
    return isObject(schema) ? { ...schema } : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The parts of a builder that map names to channels. */
type ChannelPart = '_inputDefinition' | '_outputDefinition' | '_schemaDefinition';

/** The channel of a graph whose state is a single value instead of an object. */
const wholeState = '__root__';

/** The names of a graph's channels. */
export function channelNames(graph: GraphInside): string[] {
  const channels = memberOf(graph.builder, '_schemaDefinition');
  return isObject(channels) ? Object.keys(channels) : [];
}

/** A schema of the channels' names, or of the single channel; undefined if the graph has no channels. */
function namesOf(graph: GraphInside, part: ChannelPart, joinsMessages: unknown): FreeObject | undefined {
  const channels = memberOf(graph.builder, part);
  if (!isObject(channels)) return undefined;
  const names = Object.keys(channels);
  const schema = (name: string): FreeObject => {
    const reducer = memberOf(memberOf(memberOf(graph.builder, 'channels'), name), 'operator');
    return joinsMessages !== undefined && reducer === joinsMessages ? { ...messagesSchema } : {};
  };
  if (names.includes(wholeState)) return schema(wholeState);
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, schema(name)])) };
}

/** Allows additional keys, at any depth, where the library ignores them. */
function allowIgnoredKeys(schema: FreeObject, known: ContextSchema | undefined): FreeObject {
  if (known === undefined) return schema;
  const { additionalProperties, properties, ...rest } = schema;
  const isOpen = additionalProperties === false && known.others === 'passed over';
  return {
    ...rest,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]: [string, unknown]) => [
          name,
          isObject(property) ? allowIgnoredKeys({ ...property }, objectSchema(known.shape[name])) : property,
        ]),
      ),
    }),
    ...(additionalProperties === undefined || isOpen ? {} : { additionalProperties }),
  };
}

/** Makes keys with a default optional. */
function withoutDefaultsRequired(schema: FreeObject): FreeObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return schema;
  const needed = required.filter((name) => {
    const property = properties[String(name)];
    return !(isObject(property) && 'default' in property);
  });
  return { ...schema, required: needed };
}
