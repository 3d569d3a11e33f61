import * as fc from 'fast-check';
import { isObject } from '../../../src/kit/json-object.ts';
import { namedSchemas, type PublicSchema } from './public-answers.ts';

/** Texts that stand for something in one field or another: most requests are then refused by one rule only, or by none. */
const texts = [
  'main',
  'refs/tags/v1',
  'langgraph.json',
  'https://example.com/acme/agent',
  'https://agent.example.com',
  'registry.example.com/acme/agent:1',
  'npm ci',
  'MODEL_KEY',
  'default',
  '/data',
  '',
];

/** Values that the document's own schema allows, its references followed. */
export function requestOf(schema: PublicSchema): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type, properties, items, required = [] } = schema;
  if (typeof $ref === 'string') return requestOf(namedSchemas[$ref.replace('#/components/schemas/', '')] ?? {});
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.filter(isObject).map(weighed));
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if ('const' in schema) return fc.constant(schema['const']);
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: bound(schema, 'minimum', 0), max: bound(schema, 'maximum', 4_096) });
    case 'number':
      return fc.double({ min: bound(schema, 'minimum', 0), max: bound(schema, 'maximum', 64), noNaN: true });
    case 'string':
      if (schema['format'] === 'uuid') return fc.uuid();
      return fc.oneof(fc.constantFrom(...texts), fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/));
    case 'array':
      return fc.array(requestOf(isObject(items) ? items : {}), { maxLength: 2 });
    default:
      return isObject(properties)
        ? objectOf(properties, required)
        : fc.dictionary(fc.constantFrom('a', 'b'), fc.string());
  }
}

/** Most of the time null, where that may be: a body that gives every field breaks every rule at once. */
const weighed = (schema: PublicSchema) => ({
  weight: schema['type'] === 'null' ? 4 : 1,
  arbitrary: requestOf(schema),
});

const bound = (schema: PublicSchema, word: 'minimum' | 'maximum', usual: number): number => {
  const given = schema[word];
  return typeof given === 'number' ? given : usual;
};

function objectOf(properties: Record<string, unknown>, required: unknown): fc.Arbitrary<object> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [field, each] of Object.entries(properties)) if (isObject(each)) fields[field] = requestOf(each);
  return fc.record(fields, { requiredKeys: Array.isArray(required) ? required.map(String) : [] });
}
