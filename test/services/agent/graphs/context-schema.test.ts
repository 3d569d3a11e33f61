import { expect, test } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { contextSchemaOf, contextErrors } from '../../../../src/services/agent/graphs/context-schema.ts';

const of = (_configRuntimeSchema: unknown) => contextSchemaOf({ builder: { _configRuntimeSchema } });
const tone = { tone: z.string().optional(), volume: z.number().optional() };
const tone3 = { tone: z3.string().optional(), volume: z3.number().optional() };

test.each([
  ['v4 object', z.object(tone), 'passed over'],
  ['v4 strict object', z.strictObject(tone), 'refused'],
  ['v4 loose object', z.looseObject(tone), 'taken'],
  ['v4 object with a catchall', z.object(tone).catchall(z.string()), 'taken'],
  ['v4 object with a default', z.object(tone).default({}), 'passed over'],
  ['v3 object', z3.object(tone3), 'passed over'],
  ['v3 strict object', z3.object(tone3).strict(), 'refused'],
  ['v3 loose object', z3.object(tone3).passthrough(), 'taken'],
  ['v3 object with a catchall', z3.object(tone3).catchall(z3.string()), 'taken'],
])('%s: unknown keys are %s', (_, schema, others) => {
  const known = of(schema);
  expect(known?.others).toBe(others);
  expect(Object.keys(known?.shape ?? {})).toEqual(['tone', 'volume']);
});

test.each([undefined, null, 'x', {}, z.string()])('has no keys without an object schema: %s', (schema) => {
  expect(of(schema)).toBeUndefined();
});

test.each<[string, object, z.ZodType, [string, string][]]>([
  ['a misspelled key', { tome: 'curt' }, z.object(tone), [['tome', 'tone']]],
  ['an unrelated key', { customer: 7 }, z.object(tone), []],
  ['a similar key next to the real one', { tone: 'a', tome: 'b' }, z.object(tone), []],
  ['any key of a loose schema', { tome: 'curt' }, z.looseObject(tone), []],
])('%s', (_, context, schema, slips) => {
  const known = of(schema);
  expect(known && contextErrors({ ...context }, known)).toEqual(slips);
});
