import type { FreeObject } from '../../contract/agent/open-word.ts';
import { contextSchemaOf, objectSchema } from './context-schema.ts';
import type { ContextSchema } from './context-schema.ts';
import type { Engine } from './engine.ts';
import type { Graph } from './graph.ts';

/** The JSON schemas of a graph; one that can't be told is left out. */
export interface GraphSchemaSet {
  input_schema?: FreeObject;
  output_schema?: FreeObject;
  /** Always there: `{}`, which holds for everything, where nothing is known. */
  state_schema: FreeObject;
  /** The engine has one schema for both: a run without a context has its configurable values held to it. */
  config_schema?: FreeObject;
  context_schema?: FreeObject;
}

/**
 * The JSON schemas of a graph. Those of a state with types at run time (a zod object, the engine's `StateSchema`) are the
 * engine's own; of a state that is annotated in TypeScript only the channels' names are left.
 */
export async function schemasOf(
  graph: Graph,
  engine: Pick<Engine, 'schemaReaders' | 'joinsMessages'>,
): Promise<GraphSchemaSet> {
  const readers = await engine.schemaReaders();
  const named = (part: ChannelPart) => namesOf(graph, part, engine.joinsMessages);
  const input = reported(() => readers?.getInputTypeSchema(graph)) ?? named('_inputDefinition');
  const output = reported(() => readers?.getOutputTypeSchema(graph)) ?? named('_outputDefinition');
  const state = reported(() => readers?.getStateTypeSchema(graph)) ?? named('_schemaDefinition');
  const context = reported(() => readers?.getConfigTypeSchema(graph));
  const accepted = context && asSent(context, contextSchemaOf(graph));
  return {
    ...(input && { input_schema: input }),
    ...(output && { output_schema: output }),
    state_schema: state ?? {},
    ...(accepted && { config_schema: accepted, context_schema: accepted }),
  };
}

/** What the engine tells; undefined also for a type that has no JSON schema, at which schema libraries throw. */
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

/** The one channel of a graph whose state is a value and not an object of channels. */
const WHOLE_STATE = '__root__';

/** An object with the names of the channels, or the one channel there is; undefined where the graph was not made of channels. */
function namesOf(graph: Graph, part: ChannelPart, joinsMessages: unknown): FreeObject | undefined {
  const { builder } = graph;
  const channels: unknown = isObject(builder) ? Reflect.get(builder, part) : undefined;
  const made: unknown = isObject(builder) ? Reflect.get(builder, 'channels') : undefined;
  if (!isObject(channels)) return undefined;
  const names = Object.keys(channels);
  const schema = (name: string): FreeObject => {
    const channel: unknown = isObject(made) ? Reflect.get(made, name) : undefined;
    const reducer: unknown = isObject(channel) ? Reflect.get(channel, 'operator') : undefined;
    return joinsMessages !== undefined && reducer === joinsMessages ? { ...MESSAGES } : {};
  };
  if (names.includes(WHOLE_STATE)) return schema(WHOLE_STATE);
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, schema(name)])) };
}

/** How the engine marks messages in the schemas that it makes itself. */
const MESSAGES = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' } as const;

/** The schema of what is sent: the engine tells that of what its library makes of it. */
const asSent = (schema: FreeObject, known: ContextSchema | undefined): FreeObject =>
  openWhereOthersPass(withoutDefaultsRequired(schema), known);

/** Other keys may be sent, at any depth, where the library passes over them and does not refuse them. */
function openWhereOthersPass(schema: FreeObject, known: ContextSchema | undefined): FreeObject {
  if (known === undefined) return schema;
  const { additionalProperties, properties, ...rest } = schema;
  const isOpen = additionalProperties === false && known.others === 'passed over';
  return {
    ...rest,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]: [string, unknown]) => [
          name,
          isObject(property) ? openWhereOthersPass({ ...property }, objectSchema(known.shape[name])) : property,
        ]),
      ),
    }),
    ...(additionalProperties === undefined || isOpen ? {} : { additionalProperties }),
  };
}

/** A value with a default need not be sent, whatever the schema of the completed object says. */
function withoutDefaultsRequired(schema: FreeObject): FreeObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return schema;
  const needed = required.filter((name) => {
    const property: unknown = typeof name === 'string' ? Reflect.get(properties, name) : undefined;
    return !(isObject(property) && 'default' in property);
  });
  return { ...schema, required: needed };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
