import * as z from 'zod';

/** JSON Schema, as far as it is looked at here. */
export type JsonSchema = Record<string, unknown>;

/** What counts where a field is absent, field by field. */
export type Defaults = Readonly<Record<string, unknown>>;

/** Schemas as JSON Schema; named ones are references. */
export interface NamedSchemas {
  /** Every named schema, described as it is sent. */
  all(): Record<string, JsonSchema>;
  /** A schema that stands in an operation: by its name, where it has one. */
  of(schema: z.ZodType): JsonSchema;
}

/**
 * @param named everything that has a name of its own in the description.
 * @param defaults what counts where fields of those are absent, by their names. A field that is not there is a mistake.
 */
export function nameSchemas(
  named: Readonly<Record<string, z.ZodType>>,
  defaults: Readonly<Record<string, Defaults>> = {},
): NamedSchemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  return {
    all: () => {
      const { schemas } = z.toJSONSchema(registry, { ...settings, uri: where });
      return Object.fromEntries(
        Object.entries(schemas).map(([id, schema]) => [id, withDefaults(bare(schema), id, defaults[id])]),
      );
    },
    of: (schema) => {
      const id = registry.get(schema)?.id;
      if (id !== undefined) return { $ref: where(id) };
      if (schema instanceof z.ZodArray) {
        const { element } = schema;
        const item = element instanceof z.ZodType ? registry.get(element)?.id : undefined;
        if (item !== undefined) return { type: 'array', items: { $ref: where(item) } };
      }
      return bare(z.toJSONSchema(schema, settings));
    },
  };
}

const where = (id: string): string => `#/components/schemas/${id}`;

const settings: Parameters<typeof z.toJSONSchema>[1] & { io: 'input' } = {
  target: 'draft-2020-12',
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }) => {
    // Fields that are not known are passed over, so that newer clients and services get on.
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
    // The bounds of every number that JSON can hold say nothing.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    // A format says it better than the expression behind it.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
};

/** Without what a schema says of itself when it stands alone. */
const bare = (schema: object): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));

function withDefaults(schema: JsonSchema, id: string, defaults: Defaults = {}): JsonSchema {
  const { properties } = schema;
  const reported = Object.entries(defaults).map(([field, value]): [string, JsonSchema] => {
    const own = isObject(properties) ? properties[field] : undefined;
    if (!isObject(own)) throw new Error(`${id} has no field ${field} that a default could count for`);
    return [field, { ...own, default: value }];
  });
  return reported.length === 0
    ? schema
    : { ...schema, properties: { ...Object(properties), ...Object.fromEntries(reported) } };
}

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const isEmpty = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
