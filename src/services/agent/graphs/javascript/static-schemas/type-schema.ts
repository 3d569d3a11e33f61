import type ts from 'typescript-5';
import type { FreeObject } from '../../../../../contract/agent/open-word.ts';
import { messagesSchema } from '../../schemas.ts';
import type { TypeReader } from './type-reader.ts';

/** Deeper types, and what exceeds the size, accept everything. */
const maxDepth = 12;
const maxSchemas = 3_000;

/** A property to describe: its name, and the type of its values. */
export interface TypedProperty {
  name: string;
  type: ts.Type;
  description?: string | undefined;
}

/** Writes JSON schemas of types as JSON holds their values. A type that can't be described accepts everything. */
export class SchemaWriter {
  readonly #read: TypeReader;
  #left = maxSchemas;
  /** The types that are being written, with their names where they refer to themselves. */
  readonly #open = new Map<ts.Type, { name: string | undefined }>();
  readonly #names = new Map<ts.Type, string>();
  readonly #defined = new Map<string, FreeObject>();

  constructor(read: TypeReader) {
    this.#read = read;
  }

  /** The schema of an object with these properties, with its definitions. None is required: a state begins empty. */
  objectOf(properties: readonly TypedProperty[]): FreeObject {
    const schemas = properties.map(({ name, type, description }) => [
      name,
      described(this.#schemaOf(type, 0), description),
    ]);
    const definitions = Object.fromEntries(this.#defined);
    this.#reset();
    const object = { type: 'object', properties: Object.fromEntries(schemas) };
    return Object.keys(definitions).length === 0 ? object : { ...object, $defs: definitions };
  }

  #reset(): void {
    this.#left = maxSchemas;
    this.#names.clear();
    this.#defined.clear();
  }

  #schemaOf(type: ts.Type, depth: number): FreeObject {
    this.#left -= 1;
    if (this.#left < 0 || depth > maxDepth) return {};
    const simple = this.#read.simpleSchema(type);
    if (simple) return simple;
    const list = this.#listSchema(type, depth);
    if (list) return list;
    const writing = this.#open.get(type);
    const name = this.#names.get(type) ?? (writing && (writing.name ??= this.#nameFor(type)));
    if (name !== undefined) return { $ref: `#/$defs/${name}` };
    const entry: { name: string | undefined } = { name: undefined };
    this.#open.set(type, entry);
    const schema = type.isUnion() ? this.#unionSchema(type, depth) : this.#objectSchema(type, depth);
    this.#open.delete(type);
    if (entry.name === undefined) return schema;
    this.#names.set(type, entry.name);
    this.#defined.set(entry.name, schema);
    return { $ref: `#/$defs/${entry.name}` };
  }

  #nameFor(type: ts.Type): string {
    const written = (type.aliasSymbol ?? type.getSymbol())?.name ?? '';
    const base = /^[A-Za-z]\w*$/.test(written) && written !== 'Array' ? written : 'Type';
    const isTaken = (name: string): boolean =>
      this.#defined.has(name) || [...this.#open.values()].some((other) => other.name === name);
    let name = base;
    for (let count = 2; isTaken(name); count += 1) name = `${base}_${count}`;
    return name;
  }

  #unionSchema(type: ts.UnionType, depth: number): FreeObject {
    const members = type.types.filter((member) => !this.#read.isAbsent(member) && !this.#read.isOverwrite(member));
    if (members.some((member) => this.#read.isMessages(member))) return { ...messagesSchema };
    const literals = (is: (member: ts.Type) => boolean) =>
      members.filter(is).map((member) => this.#read.literalValue(member));
    // Sorted, as on the public server: the compiler's order depends on the rest of the program.
    const strings = literals((member) => member.isStringLiteral())
      .map(String)
      .sort((one, other) => (one < other ? -1 : 1));
    const numbers = literals((member) => member.isNumberLiteral());
    const others = members.filter((member) => this.#read.literalValue(member) === undefined);
    const booleans = literals((member) => typeof this.#read.literalValue(member) === 'boolean');
    const parts = [
      ...(strings.length > 0 ? [{ type: 'string', enum: strings }] : []),
      ...(numbers.length > 0 ? [{ type: 'number', enum: numbers }] : []),
      ...(booleans.length > 0 ? [{ type: 'boolean', ...(booleans.length === 1 ? { enum: booleans } : {}) }] : []),
      ...others.map((member) => this.#schemaOf(member, depth + 1)),
    ];
    const different = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
    const [first = {}] = different;
    if (different.length <= 1) return first;
    return different.some((part) => Object.keys(part).length === 0) ? {} : { anyOf: different };
  }

  /** The schema of an array or a tuple; undefined for other types. */
  #listSchema(type: ts.Type, depth: number): FreeObject | undefined {
    const item = this.#read.arrayItem(type);
    if (item) return this.#read.isMessages(type) ? { ...messagesSchema } : arrayOf(this.#schemaOf(item, depth + 1));
    const tuple = this.#read.tuple(type);
    if (!tuple) return undefined;
    const prefixItems = tuple.fixed.map((one) => this.#schemaOf(one, depth + 1));
    const items = tuple.rest ? this.#schemaOf(tuple.rest, depth + 1) : false;
    return { type: 'array', prefixItems, items, minItems: tuple.minLength };
  }

  #objectSchema(type: ts.Type, depth: number): FreeObject {
    const properties = this.#read.properties(type);
    const index = this.#read.indexType(type);
    if (properties.length === 0 && !index) return {};
    const required = properties.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
    const others = index && this.#schemaOf(index, depth + 1);
    return {
      type: 'object',
      ...(properties.length > 0 && {
        properties: Object.fromEntries(
          properties.map(({ name, type: inner, description }) => [
            name,
            described(this.#schemaOf(inner, depth + 1), description),
          ]),
        ),
      }),
      ...(required.length > 0 && { required }),
      ...(others && Object.keys(others).length > 0 && { additionalProperties: others }),
    };
  }
}

const arrayOf = (items: FreeObject): FreeObject =>
  Object.keys(items).length === 0 ? { type: 'array' } : { type: 'array', items };

const described = (schema: FreeObject, description: string | undefined): FreeObject =>
  description === undefined ? schema : { ...schema, description };
