import { expect, test } from 'vitest';
import { readForm, toDraft, toForm, type Draft } from '../../../src/console/pages/playground/schema-form.ts';

const schema = {
  type: 'object',
  $defs: { Street: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] } },
  properties: {
    name: { type: 'string', description: 'Who.' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    size: { enum: ['small', 'large', null] },
    gift: { type: 'boolean', default: false },
    floor: { type: ['number', 'null'] },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string' } },
    address: { $ref: '#/$defs/Street' },
    any: {},
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    messages: { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' },
  },
  required: ['name', 'count', 'floor', 'gift'],
};

const form = toForm(schema);
const read = (draft: Record<string, Draft>) => {
  if (!form) throw new Error('the schema has no form');
  const initial = toDraft(form);
  return readForm(form, typeof initial === 'object' && !Array.isArray(initial) ? { ...initial, ...draft } : draft);
};

test('makes a field of every kind, and JSON of all that has none', () => {
  expect(form?.fields.map(({ name, kind, isNullable }) => `${name} ${kind}${isNullable ? '?' : ''}`)).toEqual([
    'name text',
    'count number',
    'size choice',
    'gift boolean',
    'floor number?',
    'note text?',
    'tags list',
    'address group',
    'any json',
    'either json',
    'messages json',
  ]);
  expect(toForm({ type: 'object' })).toBeUndefined();
  expect(toForm(undefined)).toBeUndefined();
});

test('reads what was typed, leaves out what was not, and has null where a field may be', () => {
  expect(
    read({ name: 'Ada', count: '2', size: '1', tags: ['a', ''], address: { street: 'Hill' }, any: '{"x":[1]}' }),
  ).toEqual({
    value: {
      name: 'Ada',
      count: 2,
      size: 'large',
      gift: false,
      floor: null,
      tags: ['a', ''],
      address: { street: 'Hill' },
      any: { x: [1] },
    },
    problems: {},
  });
});

test('says which field is wrong, and why', () => {
  const { problems } = read({ count: '2.5', floor: 'high', any: '{', tags: ['a'] });
  expect(problems).toEqual({
    name: 'Fill in this field.',
    count: 'Enter a whole number.',
    floor: 'Enter a number.',
    any: expect.stringContaining('not valid JSON'),
  });
  expect(read({ name: 'x', count: '10' }).problems).toEqual({ count: 'Enter at most 9.' });
  expect(read({ name: 'x', count: '' }).problems).toEqual({ count: 'Fill in this field.' });
});

test('shows a value again as it was typed', () => {
  const value = {
    name: 'Ada',
    count: 2,
    size: 'large',
    gift: true,
    floor: 1,
    tags: ['a'],
    address: { street: 'Hill' },
  };
  if (!form) throw new Error('the schema has no form');
  expect(readForm(form, toDraft(form, value)).value).toEqual(value);
});

test('does not loop on a schema that refers to itself', () => {
  const tree = {
    $ref: '#/$defs/Tree',
    $defs: { Tree: { type: 'object', properties: { left: { $ref: '#/$defs/Tree' } } } },
  };
  expect(toForm(tree)?.fields[0]?.name).toBe('left');
  expect(toForm({ $ref: '#' })).toBeUndefined();
});

test('makes a form of the schemas that Python has', () => {
  const python = toForm({
    $defs: {
      Color: { enum: ['red', 'blue'], title: 'Color', type: 'string' },
      Inner: { properties: { a: { default: 3, title: 'A', type: 'integer' } }, title: 'Inner', type: 'object' },
      AIMessage: { properties: { content: { type: 'string' } }, type: 'object' },
      HumanMessage: { properties: { content: { type: 'string' } }, type: 'object' },
    },
    properties: {
      messages: {
        items: { oneOf: [{ $ref: '#/$defs/AIMessage' }, { $ref: '#/$defs/HumanMessage' }] },
        title: 'Messages',
        type: 'array',
      },
      topic: { enum: ['a', 'b'], title: 'Topic', type: 'string' },
      only: { const: 'one', title: 'Only', type: 'string' },
      color: { anyOf: [{ $ref: '#/$defs/Color' }, { type: 'null' }] },
      inner: { $ref: '#/$defs/Inner' },
      many: { items: { $ref: '#/$defs/Inner' }, title: 'Many', type: 'array' },
      tags: { items: { type: 'string' }, title: 'Tags', type: 'array', uniqueItems: true },
      pair: { maxItems: 2, minItems: 2, prefixItems: [{ type: 'integer' }, { type: 'string' }], type: 'array' },
      counts: { additionalProperties: { type: 'integer' }, title: 'Counts', type: 'object' },
      sleep_ms: { anyOf: [{ maximum: 9, minimum: 0, type: 'number' }, { type: 'null' }], description: 'How long.' },
    },
    title: 'State',
    type: 'object',
  });
  expect(python?.fields.map(({ name, kind, isNullable }) => `${name} ${kind}${isNullable ? '?' : ''}`)).toEqual([
    'messages json',
    'topic choice',
    'only choice',
    'color choice?',
    'inner group',
    'many list',
    'tags list',
    'pair json',
    'counts json',
    'sleep_ms number?',
  ]);
});
