import { validate, type Schema } from '@cfworker/json-schema';
import { schemaDraft, schemaFormats, walkSchema, type SchemaObject } from '../config/json-schema.ts';
import { compilePattern } from '../config/pattern.ts';
import { tooLarge } from './expectation-bounds.ts';
import { briefText } from './expectation-words.ts';

const bounds = { nodes: 10_000, text: 100_000 };

/** Where and why a value does not fit a JSON Schema (draft 2020-12), in bounded words; undefined where it fits. */
export function schemaMisfit(schema: SchemaObject, value: unknown): string | undefined {
  const large = tooLarge(value, bounds);
  if (large) return `${large}: too large to be held to a JSON Schema`;
  const { valid, errors } = validate(value, onLinearTime(schema, value), schemaDraft);
  const last = errors.at(-1);
  if (valid || !last) return undefined;
  const where = last.instanceLocation === '#' ? '' : `at ${briefText(last.instanceLocation.slice(1), 80)}: `;
  return `${where}${briefText(last.error)}`;
}

/**
 * The same schema for this one value, without a pattern of its own: RE2 finds beforehand which texts of the value
 * match, and exactly these stand in the pattern's place. The validator's engine would backtrack for as long as the
 * value's author likes.
 */
function onLinearTime(schema: SchemaObject, value: unknown): Schema {
  const copy = structuredClone(schema);
  const texts = [...textsIn(value)];
  const literally = (pattern: string): string => {
    const compiled = compilePattern(pattern);
    return onlyThese(compiled.ok ? texts.filter((text) => compiled.pattern.matcher(text).find()) : []);
  };
  walkSchema(copy, (each) => {
    if (typeof each['pattern'] === 'string') each['pattern'] = literally(each['pattern']);
    if (typeof each['format'] === 'string' && !schemaFormats.includes(each['format'])) delete each['format'];
    const byName = each['patternProperties'];
    if (typeof byName !== 'object' || byName === null) return;
    const together = new Map<string, unknown[]>();
    for (const [pattern, inner] of Object.entries(byName)) {
      const names = literally(pattern);
      together.set(names, [...(together.get(names) ?? []), inner]);
    }
    each['patternProperties'] = Object.fromEntries([...together].map(([names, allOf]) => [names, { allOf }]));
  });
  return copy;
}

/** Every text and every key within a value that is bounded already. */
function textsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(value);
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(key);
    textsIn(inner, found);
  }
  return found;
}

/** A pattern for exactly these texts; one that nothing matches where there are none. */
const onlyThese = (texts: readonly string[]): string =>
  texts.length === 0 ? '(?!)' : `^(?:${texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`;
