import * as z from 'zod';
import { table } from '../markdown-table.ts';

const words = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** A schema of an OpenAPI document, as far as the guide shows it. */
const jsonSchema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(words).optional(),
  const: words.optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
});

type JsonSchema = z.infer<typeof jsonSchema>;

/** Booleans are schemas too: anything, or nothing. */
const read = (schema: unknown): JsonSchema => jsonSchema.parse(typeof schema === 'object' ? (schema ?? {}) : {});

/** The type of a value in words, in Markdown. @param page where named schemas are; empty for the same page. */
export function typeOf(schema: unknown, page: string): string {
  const { $ref, type, format, items, properties, additionalProperties, ...rest } = read(schema);
  const name = $ref?.split('/').at(-1);
  if (name !== undefined) return `[${name}](${page}#${name.toLowerCase()})`;
  if (rest.enum) return rest.enum.map(literal).join(', ');
  if (rest.const !== undefined) return literal(rest.const);
  const choices = rest.anyOf ?? rest.oneOf;
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, page)))].join(' or ');
  if (rest.allOf) return rest.allOf.map((part) => typeOf(part, page)).join(' and ');
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeOf(items, page)}`;
  if (type === 'object' && !properties && typeof additionalProperties === 'object')
    return `map of ${typeOf(additionalProperties, page)}`;
  const plain = type === undefined ? 'anything' : [type].flat().join(' or ');
  return [format === undefined ? plain : `${plain} (${format})`, bounds(rest)].filter(Boolean).join(', ');
}

const literal = (value: z.infer<typeof words>): string => `\`${JSON.stringify(value)}\``;

function bounds(schema: Omit<JsonSchema, 'type'>): string {
  const range = (least: number | undefined, most: number | undefined, unit: string): string => {
    if (least === undefined && most === undefined) return '';
    if (least === undefined) return `at most ${most}${unit}`;
    return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
  };
  return [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** The fields of an object as a table; empty where it has none. */
export function fieldTable(schema: unknown, page: string): string {
  const rows = fieldRows(schema, page);
  const isDescribed = rows.some(([, , meaning]) => meaning !== '');
  if (rows.length === 0) return '';
  return isDescribed
    ? table(['field', 'type', 'meaning'], rows)
    : table(
        ['field', 'type'],
        rows.map((row) => row.slice(0, 2)),
      );
}

/** The type of a field, and whether it must be there. */
export const fieldType = (schema: unknown, isRequired: boolean, page: string): string =>
  `${typeOf(schema, page)}${isRequired ? '; required' : ''}`;

/** The fields of an object as rows: name, type, meaning. Those inside follow by their path. */
function fieldRows(schema: unknown, page: string, prefix = '', depth = 0): string[][] {
  const { properties = {}, required, allOf = [] } = read(schema);
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const { description = '', default: value, items } = read(field);
    const path = `${prefix}${name}`;
    const words = [description, value === undefined ? '' : `Default: \`${JSON.stringify(value)}\`.`];
    const inside =
      depth < 3 ? [...fieldRows(field, page, `${path}.`, depth + 1), ...itemRows(items, path, page, depth)] : [];
    return [
      [`\`${path}\``, fieldType(field, required.includes(name), page), words.filter(Boolean).join(' ')],
      ...inside,
    ];
  });
  return [...own, ...allOf.flatMap((part) => fieldRows(part, page, prefix, depth))];
}

const itemRows = (items: unknown, path: string, page: string, depth: number): string[][] =>
  items === undefined ? [] : fieldRows(items, page, `${path}[].`, depth + 1);
