import { expect, test } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { contextSchemaOf, slipsIn } from '../../../src/agent-server/graphs/context-schema.ts';

const of = (_configRuntimeSchema: unknown) => contextSchemaOf({ builder: { _configRuntimeSchema } });
const tone = { tone: z.string().optional(), volume: z.number().optional() };
const tone3 = { tone: z3.string().optional(), volume: z3.number().optional() };

test.each([
  ['version 4, an object', z.object(tone), 'passed over'],
  ['version 4, a strict one', z.strictObject(tone), 'refused'],
  ['version 4, a loose one', z.looseObject(tone), 'taken'],
  ['version 4, one with words for the rest', z.object(tone).catchall(z.string()), 'taken'],
  ['version 4, with a default', z.object(tone).default({}), 'passed over'],
  ['version 3, an object', z3.object(tone3), 'passed over'],
  ['version 3, a strict one', z3.object(tone3).strict(), 'refused'],
  ['version 3, a loose one', z3.object(tone3).passthrough(), 'taken'],
  ['version 3, one with words for the rest', z3.object(tone3).catchall(z3.string()), 'taken'],
])('%s: keys that it does not know are %s', (_, schema, others) => {
  const known = of(schema);
  expect(known?.others).toBe(others);
  expect(Object.keys(known?.shape ?? {})).toEqual(['tone', 'volume']);
});

test.each([undefined, null, 'x', {}, z.string()])('what is no schema of objects has no keys: %s', (schema) => {
  expect(of(schema)).toBeUndefined();
});

test.each<[string, object, z.ZodType, [string, string][]]>([
  ['a slip of the finger', { tome: 'curt' }, z.object(tone), [['tome', 'tone']]],
  ['a key of somebody else', { customer: 7 }, z.object(tone), []],
  ['what looks like a key that is there as well', { tone: 'a', tome: 'b' }, z.object(tone), []],
  ['a key of a schema that takes any', { tome: 'curt' }, z.looseObject(tone), []],
])('%s', (_, context, schema, slips) => {
  const known = of(schema);
  expect(known && slipsIn({ ...context }, known)).toEqual(slips);
});
