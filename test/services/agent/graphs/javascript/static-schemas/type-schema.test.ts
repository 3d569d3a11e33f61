import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript-5';
import { afterAll, describe, expect, test } from 'vitest';
import { TypeReader } from '../../../../../../src/services/agent/graphs/javascript/static-schemas/type-reader.ts';
import { SchemaWriter } from '../../../../../../src/services/agent/graphs/javascript/static-schemas/type-schema.ts';

const declarations = `
  export interface Tree {
    /** What it is called. */
    name: string;
    children?: Tree[];
  }
  export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
  export interface Left { right?: Right }
  export interface Right { left: Left | null }
  export type Deeper<T> = { inner?: Deeper<T[]> };
  export enum Color { Red = 'red', Blue = 'blue' }
  export enum Level { Low, High }
  export class Message {
    content = '';
    additional_kwargs = {};
    response_metadata = {};
  }
  export class Person {
    readonly name: string = '';
    private secret = '';
    #hidden = '';
    age?: number;
    greet() { return this.secret + this.#hidden; }
  }
  export interface Overwritten { ['__overwrite__']: number }
`;

const messages = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };
const string = { type: 'string' };
const number = { type: 'number' };

const table: [type: string, schema: object, definitions?: object][] = [
  ['string', string],
  ['`id-${string}`', string],
  ['string & { readonly brand: unique symbol }', string],
  ['number', number],
  ['boolean', { type: 'boolean' }],
  ['true', { type: 'boolean', const: true }],
  ['"a"', { type: 'string', const: 'a' }],
  ['null', { type: 'null' }],
  ['string | null', { anyOf: [{ type: 'null' }, string] }],
  ['string | undefined', string],
  ['"a" | "b"', { type: 'string', enum: ['a', 'b'] }],
  [
    '1 | 2 | "a"',
    {
      anyOf: [
        { type: 'string', enum: ['a'] },
        { type: 'number', enum: [1, 2] },
      ],
    },
  ],
  ['number | boolean', { anyOf: [{ type: 'boolean' }, number] }],
  [
    '"a" | false',
    {
      anyOf: [
        { type: 'string', enum: ['a'] },
        { type: 'boolean', enum: [false] },
      ],
    },
  ],
  ['Color', { type: 'string', enum: ['blue', 'red'] }],
  ['Color.Red', { type: 'string', const: 'red' }],
  ['Level', { type: 'number', enum: [0, 1] }],
  ['number | Overwritten', number],
  ['string[]', { type: 'array', items: string }],
  ['readonly (string | number)[]', { type: 'array', items: { anyOf: [string, number] } }],
  ['unknown[]', { type: 'array' }],
  ['[string, number?]', { type: 'array', prefixItems: [string, number], items: false, minItems: 1 }],
  ['[string, ...number[]]', { type: 'array', prefixItems: [string], items: number, minItems: 1 }],
  ['Record<string, number>', { type: 'object', additionalProperties: number }],
  ['Record<string, any>', { type: 'object' }],
  ['Record<"a" | "b", string>', { type: 'object', properties: { a: string, b: string }, required: ['a', 'b'] }],
  ['{ a: string; b?: number }', { type: 'object', properties: { a: string, b: number }, required: ['a'] }],
  ['Partial<{ a: string }>', { type: 'object', properties: { a: string } }],
  [
    '{ a: 1 } & { b?: string }',
    { type: 'object', properties: { a: { ...number, const: 1 }, b: string }, required: ['a'] },
  ],
  ['Person', { type: 'object', properties: { name: string, age: number }, required: ['name'] }],
  ['object', { type: 'object' }],
  ['Date', { type: 'string', format: 'date-time' }],
  ['Message', { type: 'object' }],
  ['Message[]', messages],
  ['(Message | string)[] | Message | string', messages],
  ...[
    'unknown',
    'any',
    '{}',
    'never',
    'bigint',
    'symbol',
    '() => void',
    'Map<string, string>',
    'Promise<string>',
    'string | unknown[] | any',
  ].map((type): [string, object] => [type, {}]),
  [
    'Tree',
    { $ref: '#/$defs/Tree' },
    {
      Tree: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'What it is called.' },
          children: { type: 'array', items: { $ref: '#/$defs/Tree' } },
        },
        required: ['name'],
      },
    },
  ],
  [
    'Left',
    { $ref: '#/$defs/Left' },
    {
      Left: {
        type: 'object',
        properties: {
          right: {
            type: 'object',
            properties: { left: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/Left' }] } },
            required: ['left'],
          },
        },
      },
    },
  ],
  [
    'Json',
    { $ref: '#/$defs/Json' },
    {
      Json: {
        anyOf: [
          { type: 'boolean' },
          { type: 'null' },
          string,
          number,
          { type: 'array', items: { $ref: '#/$defs/Json' } },
          { type: 'object', additionalProperties: { $ref: '#/$defs/Json' } },
        ],
      },
    },
  ],
];

const folder = mkdtempSync(join(tmpdir(), 'landfall-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The schema of an object with one property of each of these types. */
function schemasOf(types: readonly string[]): object[] {
  const file = join(folder, 'types.ts');
  writeFileSync(file, `${declarations}\n${types.map((type, at) => `export type T${at} = ${type};`).join('\n')}`);
  const program = ts.createProgram([file], { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, types: [] });
  const checker = program.getTypeChecker();
  const writer = new SchemaWriter(new TypeReader(ts, program));
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const exported = module ? checker.getExportsOfModule(module) : [];
  return types.map((_, at) => {
    const [symbol] = exported.filter(({ name }) => name === `T${at}`);
    if (!symbol) throw new Error(`type ${at} is not there`);
    return writer.objectOf([{ name: 'it', type: checker.getDeclaredTypeOfSymbol(symbol) }]);
  });
}

describe('the schema of a type', () => {
  const written = schemasOf(table.map(([type]) => type));
  test.each(table.map(([type, schema, definitions], at) => ({ type, schema, definitions, at })))(
    '$type',
    ({ schema, definitions, at }) => {
      expect(written[at]).toEqual({
        type: 'object',
        properties: { it: schema },
        ...(definitions && { $defs: definitions }),
      });
    },
  );
});

test('a type without end, and a large one, are described up to a bound', () => {
  const large = `{ ${Array.from({ length: 60 }, (_, at) => `a${at}: { ${Array.from({ length: 60 }, (__, of) => `b${of}: string`).join('; ')} }`).join('; ')} }`;
  const [deep, wide] = schemasOf(['Deeper<string>', large]).map((schema) => JSON.stringify(schema));
  expect(deep?.match(/"inner"/g)?.length).toBeLessThan(13);
  expect(deep).toContain('"inner":{}');
  expect(wide?.match(/"string"/g)?.length).toBeLessThan(3_000);
  expect(wide).toContain('"a59":{}');
});
