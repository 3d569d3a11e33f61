import { dereference, validate, type Schema } from '@cfworker/json-schema';
import { isObject } from '../../kit/json-object.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import type { FieldPath } from '../../kit/diagnostics/problem.ts';
import { compilePattern } from './pattern.ts';

/** The draft by which expectations are judged. */
export const schemaDraft = '2020-12';

/** One thing that is wrong with a JSON Schema; the problem goes on from the name of the field and quotes nothing. */
export interface SchemaFault {
  path: FieldPath;
  problem: string;
  suggestion?: string | undefined;
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** The formats that are checked, each by a pattern that no text makes slow; any other one would pass unseen. */
export const schemaFormats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'regex',
  'json-pointer',
  'relative-json-pointer',
];

/** Every `$ref` can double the work, so their number is what bounds it. */
const maxReferences = 20;
const maxSubschemas = 500;

/** Keywords whose value is data, and keywords whose value is a map from names to schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const mapKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords whose value is one schema, and keywords whose value is a list of them. */
const schemaKeywords = [
  'not',
  'contains',
  'propertyNames',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const listKeywords = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];

/** Keywords below which a map is a schema; below any other one it may be anything. */
const knownKeywords = new Set([...schemaKeywords, ...listKeywords, ...mapKeywords, 'items', 'if', 'then', 'else']);

/** A JSON Schema in object form; the schemas `true` and `false` are excluded. */
export type SchemaObject = Record<string, unknown>;

/**
 * Visits a schema and all schemas within it; names of properties and data that looks like a schema are left out. What
 * stands below an unknown keyword is visited as not known to be a schema: a reference may lead there.
 */
export function walkSchema(
  schema: unknown,
  visit: (schema: SchemaObject, path: FieldPath, isKnown: boolean) => void,
  path: FieldPath = [],
  isKnown = true,
): void {
  if (Array.isArray(schema)) {
    for (const [index, each] of schema.entries()) walkSchema(each, visit, [...path, index], isKnown);
  }
  if (!isObject(schema)) return;
  visit(schema, path, isKnown);
  for (const [keyword, value] of Object.entries(schema)) {
    if (dataKeywords.has(keyword)) continue;
    const isKnownBelow = isKnown && knownKeywords.has(keyword);
    if (!mapKeywords.has(keyword)) walkSchema(value, visit, [...path, keyword], isKnownBelow);
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) walkSchema(each, visit, [...path, keyword, name], isKnownBelow);
    }
  }
}

/** What makes a schema unusable: a type that there is not, a pattern that does not compile, a reference to nowhere. */
export function schemaFaults(schema: SchemaObject): SchemaFault[] {
  const faults: SchemaFault[] = [];
  let references = 0;
  let subschemas = 0;
  walkSchema(schema, (each, path, isKnown) => {
    subschemas += 1;
    const reference = each['$ref'];
    if (typeof reference === 'string') references += 1;
    // What is judged has other patterns in the place of these, so a way through them would end nowhere.
    if (typeof reference === 'string' && reference.includes('/patternProperties/')) {
      faults.push({ path: [...path, '$ref'], problem: 'cannot lead through `patternProperties`' });
    }
    faults.push(...wordFaults(each, 'type', types, path), ...wordFaults(each, 'format', schemaFormats, path));
    faults.push(...patternFaults(each, path), ...shapeFaults(each, path));
    if (isKnown) faults.push(...moreShapeFaults(each, path));
  });
  if (subschemas > maxSubschemas) faults.push({ path: [], problem: `must hold at most ${maxSubschemas} schemas` });
  if (references > maxReferences) faults.push({ path: [], problem: `must hold at most ${maxReferences} references` });
  return faults.length > 0 ? faults : referenceFaults(schema);
}

function wordFaults(schema: SchemaObject, keyword: string, known: readonly string[], path: FieldPath): SchemaFault[] {
  const written = schema[keyword];
  const words: unknown[] = written === undefined ? [] : Array.isArray(written) ? written : [written];
  return words.flatMap((word) => {
    if (typeof word === 'string' && known.includes(word)) return [];
    const suggestion = typeof word === 'string' ? didYouMean(word, known) : undefined;
    const problem = `must be one of ${quoted(known)}`;
    return [{ path: [...path, keyword], problem, suggestion }];
  });
}

const isSchema = (value: unknown): boolean => (typeof value === 'object' ? value !== null : typeof value === 'boolean');
const isSchemaList = (value: unknown): boolean => Array.isArray(value) && value.every(isSchema);

const expectation =
  (schema: SchemaObject, path: FieldPath) =>
  (keywords: Iterable<string>, fits: (value: unknown) => boolean, problem: string): SchemaFault[] =>
    [...keywords]
      .filter((keyword) => schema[keyword] !== undefined && !fits(schema[keyword]))
      .map((keyword) => ({ path: [...path, keyword], problem }));

/** Keywords that hold something else than a schema: the validator breaks on them, though only at a value they apply to. */
function shapeFaults(schema: SchemaObject, path: FieldPath): SchemaFault[] {
  const expected = expectation(schema, path);
  return [
    ...expected(
      mapKeywords,
      (value) => isObject(value) && Object.values(value).every(isSchema),
      'must be a map of schemas',
    ),
    ...expected(schemaKeywords, isSchema, 'must be a JSON Schema'),
    // Drafts before 2020-12 wrote `prefixItems` as a list in `items`.
    ...expected(
      ['items'],
      (value) => isSchema(value) && (!Array.isArray(value) || isSchemaList(value)),
      'must be a JSON Schema',
    ),
    ...expected(listKeywords, isSchemaList, 'must be a list of schemas'),
    ...expected(['required'], Array.isArray, 'must be a list of names'),
  ];
}

/** The same for keywords that are common words: in other data than a schema they may hold anything. */
function moreShapeFaults(schema: SchemaObject, path: FieldPath): SchemaFault[] {
  const expected = expectation(schema, path);
  return [
    ...expected(['if', 'then', 'else', 'additionalItems'], isSchema, 'must be a JSON Schema'),
    ...expected(['enum'], Array.isArray, 'must be a list of values'),
    ...expected(
      ['dependentRequired'],
      (value) => isObject(value) && Object.values(value).every(Array.isArray),
      'must be a map of lists of names',
    ),
  ];
}

function patternFaults(schema: SchemaObject, path: FieldPath): SchemaFault[] {
  const written: [FieldPath, string][] = [];
  if (typeof schema['pattern'] === 'string') written.push([[...path, 'pattern'], schema['pattern']]);
  for (const key of isObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []) {
    written.push([[...path, 'patternProperties', key], key]);
  }
  return written.flatMap(([at, pattern]) => {
    const compiled = compilePattern(pattern);
    return compiled.ok ? [] : [{ path: at, problem: compiled.problem }];
  });
}

/**
 * Tries every schema within the schema once: what leads nowhere or round in a circle shows on any value.
 * The library writes into what it is given, so it is given a copy.
 */
function referenceFaults(schema: SchemaObject): SchemaFault[] {
  const copy: Schema = structuredClone(schema);
  try {
    const lookup = dereference(copy);
    for (const each of Object.values(lookup)) validate(null, each, schemaDraft, lookup);
    return [];
  } catch (error) {
    if (error instanceof RangeError) return [{ path: [], problem: 'has references that lead round in a circle' }];
    if (!(error instanceof Error)) throw error;
    const leadsNowhere = error.message.includes('Unresolved $ref');
    const problem = leadsNowhere ? 'has a `$ref` that leads nowhere' : 'must be a JSON Schema that can be used';
    return [{ path: [], problem }];
  }
}
