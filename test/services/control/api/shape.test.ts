import { expect, test } from 'vitest';
import * as z from 'zod';
import { resourceSpec } from '../../../../src/contract/control/resource-spec.ts';
import { readBody, readShape } from '../../../../src/services/control/validation/shape.ts';

const inner = z.strictObject({ graph_config_path: z.string() });
const schema = z.strictObject({
  name: z.string().min(2),
  source_revision_config: inner.nullish(),
  list: z.array(inner).optional(),
});
const unicode = { msg: 'Holds a NUL character or half of a surrogate pair', type: 'unicode' };
const required = { msg: 'Field required', type: 'missing' };
const noText = { msg: expect.stringContaining('expected string'), type: 'invalid_type' };

test.each<[what: string, body: unknown, value: object]>([
  ['a body', { name: 'ab' }, { name: 'ab' }],
  [
    'the public spelling of a field',
    { name: 'ab', source_revision_config: { langgraph_config_path: 'a' } },
    { name: 'ab', source_revision_config: { graph_config_path: 'a' } },
  ],
  [
    'unknown fields, at every level, without them',
    {
      name: 'ab',
      x: 1,
      source_revision_config: { graph_config_path: 'a', y: 2 },
      list: [{ graph_config_path: 'b', z: 3 }],
    },
    { name: 'ab', source_revision_config: { graph_config_path: 'a' }, list: [{ graph_config_path: 'b' }] },
  ],
])('accepts %s', (_, body, value) => {
  const before = structuredClone(body);
  expect(readBody(schema, body)).toEqual({ ok: true, value });
  expect(body).toEqual(before);
});

test.each<[what: string, body: unknown, problems: object[]]>([
  ['no body', undefined, [{ loc: ['body'], ...required }]],
  [
    'a body that is no object',
    7,
    [{ loc: ['body'], msg: expect.stringContaining('expected object'), type: 'invalid_type' }],
  ],
  ['a field that is missing', {}, [{ loc: ['body', 'name'], ...required }]],
  ['a field that is null', { name: null }, [{ loc: ['body', 'name'], ...noText }]],
  [
    'every problem at once, beside unknown fields',
    { x: 1, name: 'a', list: [{ graph_config_path: 'b' }, { y: 1 }, { graph_config_path: 5 }] },
    [
      { loc: ['body', 'name'], msg: expect.stringContaining('>=2'), type: 'too_small' },
      { loc: ['body', 'list', 1, 'graph_config_path'], ...required },
      { loc: ['body', 'list', 2, 'graph_config_path'], ...noText },
    ],
  ],
  ['a text that cannot be stored', { name: 'a\0' }, [{ loc: ['body', 'name'], ...unicode }]],
])('refuses %s', (_, body, problems) =>
  expect(readBody(schema, body)).toEqual({ ok: false, refusal: { status: 422, problems } }),
);

test('refuses a body that is nested too deep before it looks into it', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(9_000)}${']'.repeat(9_000)}`);
  expect(readBody(schema, deep)).toMatchObject({ refusal: { status: 422, problems: [{ type: 'too_deep' }] } });
});

test('names the part of the request', () => {
  const refused = (problem: object) => ({ ok: false, refusal: { status: 422, problems: [problem] } });
  expect(readShape(schema, {}, 'query')).toEqual(refused({ loc: ['query', 'name'], ...required }));
  expect(readShape(schema, { name: 'a\0' }, 'path')).toEqual(refused({ loc: ['path', 'name'], ...unicode }));
});

test('takes no field from what every object inherits', () => {
  const named = z.object({ toString: z.string() });
  expect(readShape(named, {}, 'body')).toMatchObject({
    refusal: { problems: [{ loc: ['body', 'toString'], ...required }] },
  });
});

test.each([
  ['a choice', z.object({ kind: z.enum(['a', 'b']) })],
  ['what selects one of several schemas', z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') })])],
])('reports %s as missing where it is absent', (_, kinds) => {
  const problems = [{ loc: ['body', 'kind'], ...required }];
  expect(readBody<unknown>(kinds, {})).toEqual({ ok: false, refusal: { status: 422, problems } });
  expect(readBody<unknown>(kinds, { kind: 'c' })).not.toEqual({ ok: false, refusal: { status: 422, problems } });
});

test.each([
  ['a count beyond its bound', { min_scale: 2 ** 31 }, /<=2147483647$/],
  ['a count from 2^53 on', { min_scale: 2 ** 53 }, /<=2147483647$/],
  ['a count down to -2^53', { min_scale: -(2 ** 53) }, />=0$/],
])('tells one mistake of %s', (_, body, message) =>
  expect(readBody(resourceSpec, body)).toEqual({
    ok: false,
    refusal: {
      status: 422,
      problems: [
        { loc: ['body', 'min_scale'], msg: expect.stringMatching(message), type: expect.stringMatching(/^too_/) },
      ],
    },
  }),
);
