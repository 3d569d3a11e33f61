/**
 * Writes Kubernetes' schemas of the objects that a deployment is made of, as JSON Schema, to the folder of test data.
 * They are read from the models of the Kubernetes project's own client, which are generated from Kubernetes' OpenAPI
 * document: the fields with their types and formats from the code, which of them are required from the declarations.
 * Run it when the client's version changes: `node scripts/kubernetes-schemas.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const models = join(root, 'node_modules/@kubernetes/client-node/dist/gen/models');

/** The objects that we write, read or play in tests, by the names of the client's models. */
const wanted = {
  'v1 Namespace': 'V1Namespace',
  'v1 ServiceAccount': 'V1ServiceAccount',
  'v1 Secret': 'V1Secret',
  'v1 PersistentVolumeClaim': 'V1PersistentVolumeClaim',
  'v1 Service': 'V1Service',
  'v1 Pod': 'V1Pod',
  'v1 Event': 'CoreV1Event',
  'v1 Status': 'V1Status',
  'apps/v1 StatefulSet': 'V1StatefulSet',
  'apps/v1 Deployment': 'V1Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler': 'V2HorizontalPodAutoscaler',
};

interface Schema {
  [keyword: string]: unknown;
}

/** What the data is: where it is from, which object has which definition, and all definitions. */
export interface KubernetesSchemas {
  version: string;
  origin: string;
  objects: Record<string, string>;
  definitions: Record<string, Schema>;
}

const formats: Record<string, Schema> = {
  int32: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
  int64: { type: 'integer' },
  byte: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' },
  'date-time': { type: 'string', format: 'date-time' },
  'date-time-micro': { type: 'string', format: 'date-time' },
};

function schemaOf(type: string, format: string, need: (model: string) => void): Schema {
  const items = /^Array<(.+)>$/.exec(type)?.[1];
  if (items !== undefined) return { type: 'array', items: schemaOf(items, format, need) };
  const values = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (values !== undefined) return { type: 'object', additionalProperties: schemaOf(values, format, need) };
  const known = formats[format];
  if (known) return known;
  if (type === 'IntOrString') return { type: ['integer', 'string'] };
  if (type === 'Date' || type === 'V1MicroTime') return { type: 'string', format: 'date-time' };
  if (['string', 'number', 'boolean'].includes(type)) return { type };
  if (type === 'any' || type === 'object') return {};
  need(type);
  return { $ref: `#/definitions/${type}` };
}

const field = /"baseName": "([^"]+)",\s+"type": "([^"]+)",\s+"format": "([^"]*)"/g;

function definitionOf(model: string, need: (model: string) => void): Schema {
  const code = readFileSync(join(models, `${model}.js`), 'utf8');
  const declared = readFileSync(join(models, `${model}.d.ts`), 'utf8');
  const required = [...declared.matchAll(/^ {4}'([^']+)': /gm)].flatMap(([, name]) => name ?? []);
  const properties = Object.fromEntries(
    [...code.matchAll(field)].map(([, name = '', type = '', format = '']) => [name, schemaOf(type, format, need)]),
  );
  return {
    type: 'object',
    properties,
    // As the API server does with fieldValidation=Strict.
    additionalProperties: false,
    ...(required.length > 0 ? { required: required.map((name) => (name.startsWith('_') ? name.slice(1) : name)) } : {}),
  };
}

/** Reads the schemas from the installed client. */
export function readKubernetesSchemas(): KubernetesSchemas {
  const definitions: Record<string, Schema> = {};
  const open = Object.values(wanted);
  for (let model = open.pop(); model !== undefined; model = open.pop()) {
    definitions[model] ??= definitionOf(model, (other) => open.push(other));
  }
  const version = /OpenAPI spec version: (\S+)/.exec(readFileSync(join(models, 'V1Deployment.js'), 'utf8'))?.[1] ?? '';
  const { name, version: client } = JSON.parse(readFileSync(join(models, '../../../package.json'), 'utf8'));
  const sorted = Object.fromEntries(Object.entries(definitions).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { version, origin: `the models of the npm package ${name} ${client}`, objects: wanted, definitions: sorted };
}

/** Where the data lies. */
export const schemasFile = join(root, 'test/data/kubernetes/schemas.json');

if (import.meta.main) writeFileSync(schemasFile, `${JSON.stringify(readKubernetesSchemas())}\n`);
