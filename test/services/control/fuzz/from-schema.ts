import * as fc from 'fast-check';
import * as z from 'zod';
import { schema, type Schema } from '../../../kit/http/shape.ts';

/** The JSON Schema keywords that the generator supports. */
const bounds = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  additionalProperties: z.union([schema, z.boolean()]).optional(),
});

/** Parts of names; only a few, so that some names collide. */
const word = fc.constantFrom(
  'a',
  'agent',
  'config',
  'data',
  'main',
  'x-1',
  'volume',
  'MODEL_KEY',
  'refs/tags/v1',
  'graph.json',
);
const text = fc.oneof({ weight: 4, arbitrary: word }, { weight: 1, arbitrary: fc.string({ maxLength: 20 }) });

/** Generates values that match a schema: mostly small, with optional fields at random. Uses `known` ids for uuids. */
export function fromSchema(
  described: Schema,
  components: Readonly<Record<string, Schema>>,
  known: fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const make = (part: Schema, depth: number): fc.Arbitrary<unknown> => {
    if (part.$ref !== undefined) {
      return make(components[part.$ref.replace('#/components/schemas/', '')] ?? {}, depth);
    }
    if (part.anyOf) return fc.oneof(...part.anyOf.map((one) => make(one, depth)));
    if (part.enum) return fc.constantFrom(...part.enum);
    if (part.const !== undefined) return fc.constant(part.const);
    const { type, format, pattern, minimum, maximum, minLength = 0, additionalProperties } = bounds.parse(part);
    if (Array.isArray(type)) return fc.oneof(...type.map((one) => make({ ...part, type: one } as Schema, depth)));
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: minimum ?? 0, max: Math.min(maximum ?? 1_000, (minimum ?? 0) + 1_000) });
      case 'number':
        return fc.double({ min: minimum ?? 0, max: maximum ?? 100, noNaN: true });
      case 'string':
        if (format === 'uuid') return known;
        if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
        return pattern === undefined ? text.filter((made) => made.length >= minLength) : matching(pattern);
      case 'array':
        return depth > 6 ? fc.constant([]) : fc.array(make(part.items ?? {}, depth + 1), { maxLength: 3 });
      case 'object':
        if (part.properties) return record(part, depth);
        return typeof additionalProperties === 'object'
          ? fc.dictionary(word, make(additionalProperties, depth + 1), { maxKeys: 3 })
          : fc.constant({});
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  };
  const record = ({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> => {
    const fields = Object.entries(properties).filter(([name]) => depth < 6 || required.includes(name));
    // With all of forty fields hardly any spec is valid, so include only some.
    return fc
      .record(Object.fromEntries(fields.map(([name, field]) => [name, make(field, depth + 1)])))
      .chain((whole) =>
        fc
          .array(fc.boolean(), { minLength: fields.length, maxLength: fields.length })
          .map((there) =>
            Object.fromEntries(Object.entries(whole).filter(([name], at) => required.includes(name) || there[at])),
          ),
      );
  };
  return make(described, 0);
}

function matching(pattern: string): fc.Arbitrary<string> {
  const expression = new RegExp(pattern, 'u');
  const made = fc.oneof(
    fc.constantFrom('a', 'agent', 'x-1', '0', '17', 'cluster'),
    fc.stringMatching(/^[a-z0-9]{1,12}$/),
  );
  return made.filter((one) => expression.test(one));
}
