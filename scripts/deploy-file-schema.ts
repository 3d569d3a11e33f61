// The JSON Schema of the deploy file, for editors: made from the schemas that read it.
//   node scripts/deploy-file-schema.ts     writes landfall.schema.json
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import * as z from 'zod';
import { commonFields, fieldsOfSource, priceFields } from '../src/deploy/file/deployment-fields.ts';
import { environmentsField } from '../src/deploy/file/environments.ts';
import { previewFields } from '../src/deploy/file/preview-fields.ts';
import { pushFields } from '../src/deploy/file/push-fields.ts';
import { deployable, ownersOf } from '../src/deploy/file/source-rules.ts';
import { toKebab } from '../src/deploy/file/spelling.ts';
import { isObject } from '../src/kit/json-object.ts';
import { words } from './deploy-file-words.ts';

type Schema = Record<string, unknown>;

/** Where the schema lies in the project. */
export const schemaFile = 'landfall.schema.json';

/** Maps whose keys may be written with hyphens or as the service has them. */
const inTwoSpellings = new Set(['resource-spec', 'secret-references[]']);

/** Whether a field at this path is left without words: the service's own document has them. */
const isForeign = (path: string): boolean => path.startsWith('resource-spec.');

/** What previews have of the fields of a deployment, in the same form. */
const repeated = new Map<string, string>(
  ['smoke-tests', 'conversations', 'resource-spec'].map((name) => [`preview.${name}`, name]),
);

/** The schema as the file holds it. @throws where a field has no words, or words have no field */
export async function deployFileSchema(): Promise<string> {
  return format(JSON.stringify(wholeSchema()), { parser: 'json', printWidth: 120 });
}

/** What stands beside the deployments of a file. */
const isOfFile = (path: string): boolean => /^environments\b/.test(path);

function environmentsSchema(): unknown {
  const unused = new Set(Object.keys(words).filter(isOfFile));
  const schema = describe(jsonSchemaOf(environmentsField), 'environments', unused);
  if (unused.size > 0) throw new Error(`words without a field: ${[...unused].join(', ')}`);
  return schema;
}

/** The schema of each field of a deployment, by its name. */
export function fieldSchemas(): Schema {
  const unused = new Set(Object.keys(words).filter((path) => !isOfFile(path)));
  const reported = (schema: unknown, path: string): unknown => describe(schema, path, unused);
  const properties: Schema = { source: reported({ type: 'string', enum: [...deployable] }, 'source') };
  for (const fields of [commonFields, ...Object.values(fieldsOfSource), priceFields, previewFields, pushFields]) {
    for (const [name, field] of Object.entries(fields.shape)) {
      properties[toKebab(name)] = reported(jsonSchemaOf(field), toKebab(name));
    }
  }
  if (unused.size > 0) throw new Error(`words without a field: ${[...unused].join(', ')}`);
  return properties;
}

function wholeSchema(): Schema {
  const properties = fieldSchemas();
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: "Landfall's deploy file",
    description: 'What should run, when it is deployed, and how it proves itself.',
    type: 'object',
    allOf: [
      unless(isMany, {
        allOf: [{ $ref: '#/definitions/deployment' }],
        anyOf: [{ required: ['name'] }, { required: ['deployment-id'] }],
      }),
      unless(
        { not: isMany },
        {
          properties: {
            defaults: {
              description:
                'Fields that all deployments share; a field of a deployment replaces the one of its name here.',
              allOf: [{ $ref: '#/definitions/deployment' }, { properties: { name: false, 'deployment-id': false } }],
            },
            environments: environmentsSchema(),
            deployments: {
              description: 'Deployments, each under its name.',
              type: 'object',
              minProperties: 1,
              additionalProperties: { $ref: '#/definitions/deployment' },
            },
          },
          additionalProperties: false,
        },
      ),
    ],
    definitions: {
      deployment: {
        type: 'object',
        properties,
        additionalProperties: false,
        allOf: sourceRules(Object.keys(properties)),
      },
    },
  };
}

const isMany: Schema = { required: ['deployments'] };

const unless = (condition: Schema, otherwise: Schema): Schema => ({ if: condition, else: otherwise });

const jsonSchemaOf = (field: z.core.$ZodType): Schema => {
  const { $schema: _, ...schema } = z.toJSONSchema(field, { io: 'input', target: 'draft-7' });
  return schema;
};

/** A field of one source cannot stand beside the other source, nor beside one of its fields. */
function sourceRules(names: readonly string[]): Schema[] {
  return deployable.map((source) => {
    const others = names.filter((name) => !ownersOf(name).includes(source));
    const own = names.filter((name) => ownersOf(name).length === 1 && ownersOf(name)[0] === source);
    const mentions = [
      { properties: { source: { const: source } }, required: ['source'] },
      ...own.map((name) => ({ required: [name] })),
    ];
    return unless(
      { not: { anyOf: mentions } },
      { properties: Object.fromEntries(others.map((name) => [name, false])) },
    );
  });
}

/** A schema with words for a person, its keys in a person's spelling, and without what says nothing. */
function describe(schema: unknown, path: string, unused: Set<string>): unknown {
  if (!isObject(schema)) return schema;
  const description = words[path];
  if (description === undefined && !isForeign(path)) throw new Error(`no words for ${path}`);
  unused.delete(path);
  const same = repeated.get(path);
  if (same !== undefined) return { description, allOf: [{ $ref: `#/definitions/deployment/properties/${same}` }] };
  return { ...(description === undefined ? {} : { description }), ...inner(schema, path, unused) };
}

function inner(schema: Schema, path: string, unused: Set<string>): Schema {
  const { properties, items, anyOf, propertyNames: _, maximum, required, ...rest } = schema;
  return {
    ...rest,
    ...(typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? { maximum } : {}),
    ...(Array.isArray(anyOf)
      ? { anyOf: anyOf.map((each) => (isObject(each) ? inner(each, path, unused) : each)) }
      : {}),
    ...(isObject(items) ? { items: inner(items, `${path}[]`, unused) } : {}),
    ...(words[`${path}.*`] === undefined
      ? {}
      : { additionalProperties: describe(rest['additionalProperties'], `${path}.*`, unused) }),
    ...(isObject(properties) ? members(properties, required, path, unused) : {}),
  };
}

function members(properties: Schema, required: unknown, path: string, unused: Set<string>): Schema {
  const spell = inTwoSpellings.has(path) ? toKebab : (name: string): string => name;
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const reported = Object.entries(properties).map(([name, each]): [string, string, unknown] => {
    return [name, spell(name), describe(each, `${path}.${spell(name)}`, unused)];
  });
  const respelled = reported.filter(([name, spelled]) => name !== spelled);
  const plain = reported.map(([name]) => name).filter((name) => needed.includes(name) && spell(name) === name);
  const either = respelled.map(([name, spelled]) => [spelled, name]).filter(([, name]) => needed.includes(name));
  return {
    properties: Object.fromEntries(reported.map(([, spelled, each]) => [spelled, each])),
    // Patterns are no completions: an editor offers one spelling and takes both.
    ...(respelled.length > 0
      ? { patternProperties: Object.fromEntries(respelled.map(([name, , each]) => [`^${name}$`, each])) }
      : {}),
    ...(plain.length > 0 ? { required: plain } : {}),
    ...(either.length > 0
      ? { allOf: either.map((names) => ({ anyOf: names.map((name) => ({ required: [name] })) })) }
      : {}),
  };
}

/** Writes the schema below `base`. */
export async function writeDeployFileSchema(base: string): Promise<void> {
  await writeFile(join(base, schemaFile), await deployFileSchema());
}

if (import.meta.main) await writeDeployFileSchema(dirname(import.meta.dirname));
