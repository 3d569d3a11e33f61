import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { publicDocument } from './public-document.ts';

/** JSON Schema, as far as this test generates values from it. */
interface Described {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  format?: string | undefined;
  enum?: unknown[] | undefined;
  anyOf?: Described[] | undefined;
  oneOf?: Described[] | undefined;
  items?: Described | undefined;
  properties?: Record<string, Described> | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  required?: string[] | undefined;
  default?: unknown;
}
const Described: z.ZodType<Described> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(Described).optional(),
    oneOf: z.array(Described).optional(),
    items: Described.optional(),
    properties: z.record(z.string(), Described).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    required: z.array(z.string()).optional(),
    default: z.unknown().optional(),
  }),
);

/** Valid values by field name, for fields where arbitrary text refers to nothing. */
type Real = Readonly<Record<string, readonly unknown[]>>;

/** Values of a schema: every enum value, every variant, the bounds. */
function valuesOf(given: Described, real: Real): unknown[] {
  const described = given.$ref === undefined ? given : named(given.$ref);
  const forms = [...(described.anyOf ?? []), ...(described.oneOf ?? [])];
  if (forms.length > 0) return forms.flatMap((form) => valuesOf(form, real));
  if (described.enum) return described.enum;
  const types = typeof described.type === 'string' ? [described.type] : (described.type ?? []);
  return types.flatMap((type) => ofType(type, described, real));
}

function ofType(type: string, described: Described, real: Real): unknown[] {
  const { format, items, minimum = 1, maximum = 10, default: byDefault } = described;
  if (type === 'boolean') return [true, false];
  if (type === 'null') return [null];
  if (type === 'integer' || type === 'number') return [minimum, maximum, byDefault ?? minimum];
  if (type === 'array') return [[], ...(items ? valuesOf(items, real).map((item) => [item]) : [])];
  if (type === 'object') return objectsOf(described, real);
  if (format === 'uuid') return [randomUUID()];
  if (format === 'date-time') return ['2100-01-01T00:00:00Z'];
  if (format === 'uri-reference') return ['https://hooks.example.com/in', '/threads'];
  return ['text'];
}

/** The required fields alone, and with each value of each other field. */
function objectsOf({ properties = {}, required = [] }: Described, real: Real): object[] {
  const fields = Object.entries(properties).map(([name, field]) => ({ name, values: fieldOf(name, field, real) }));
  const least = Object.fromEntries(
    fields.flatMap(({ name, values }) => (required.includes(name) ? [[name, values[0]]] : [])),
  );
  return [least, ...fields.flatMap(({ name, values }) => values.map((value) => ({ ...least, [name]: value })))];
}

const fieldOf = (name: string, field: Described, real: Real): readonly unknown[] => real[name] ?? valuesOf(field, real);

const named = (ref: string): Described =>
  Described.parse(publicDocument.components.schemas[ref.replace('#/components/schemas/', '')]);

let serving: Serving;
let ask: Ask;
beforeAll(async () => {
  serving = await serveAgent();
  ask = askAt(serving.url);
});
afterAll(() => serving.close());

const thread = async (): Promise<string> => Object((await ask('POST', '/threads', {})).body).thread_id;

/** A delayed run, so that nothing happens in this test. */
const run = { assistant_id: 'echo', input: { input: 'x' }, after_seconds: 3600 };
const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
const item = { namespace: ['a'], key: 'k', value: {} };

/** An endpoint with a body: the schema in the public description, and its minimal body. */
interface Endpoint {
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  schema: string;
  least?: object;
}
const endpoints: readonly Endpoint[] = [
  { path: '/assistants', schema: 'AssistantCreate', least: { graph_id: 'echo' } },
  { path: '/assistants/search', schema: 'AssistantSearchRequest' },
  { path: '/assistants/count', schema: 'AssistantCountRequest' },
  { method: 'PATCH', path: '/assistants/:assistant', schema: 'AssistantPatch' },
  { path: '/assistants/:assistant/versions', schema: 'AssistantVersionsSearchRequest' },
  { path: '/threads', schema: 'ThreadCreate', least: { metadata: { graph_id: 'echo' } } },
  { path: '/threads/search', schema: 'ThreadSearchRequest' },
  { path: '/threads/count', schema: 'ThreadCountRequest' },
  { method: 'PATCH', path: '/threads/:thread', schema: 'ThreadPatch' },
  { path: '/threads/:ran/state', schema: 'ThreadStateUpdate' },
  { path: '/threads/:ran/state/checkpoint', schema: 'ThreadStateCheckpointRequest', least: { checkpoint: {} } },
  { path: '/threads/:ran/history', schema: 'ThreadStateSearch' },
  { path: '/threads/:ran/runs', schema: 'RunCreateStateful', least: run },
  { path: '/threads/:thread/runs/crons', schema: 'ThreadCronCreate', least: cron },
  { path: '/runs', schema: 'RunCreateStateless', least: run },
  { path: '/runs/crons', schema: 'CronCreate', least: cron },
  { path: '/runs/crons/search', schema: 'CronSearch' },
  { path: '/runs/crons/count', schema: 'CronCountRequest' },
  { method: 'PUT', path: '/store/items', schema: 'StorePutRequest', least: item },
  { method: 'DELETE', path: '/store/items', schema: 'StoreDeleteRequest', least: { namespace: ['a'], key: 'k' } },
  { path: '/store/items/search', schema: 'StoreSearchRequest' },
  { path: '/store/namespaces', schema: 'StoreListNamespacesRequest' },
];

/** Values that we reject, and why. */
const refused: Readonly<Record<string, string>> = {
  'ThreadCreate ttl {}': 'A time to live is a time.',
  'ThreadCreate ttl {"strategy":"delete"}': 'A time to live is a time.',
  'ThreadPatch ttl {}': 'A time to live is a time.',
  'ThreadPatch ttl {"strategy":"delete"}': 'A time to live is a time.',
  'ThreadCreate supersteps [{"updates":[]}]': 'A step without a node changes nothing.',
  'ThreadCreate supersteps [{"updates":[{"as_node":"answer","values":[]}]}]': 'No node of the graph writes a list.',
  'ThreadCreate supersteps [{"updates":[{"as_node":"answer","values":[{}]}]}]': 'No node of the graph writes a list.',
  'ThreadStateUpdate values []': 'No node of the graph writes a list.',
  'RunCreateStateful multitask_strategy "reject"': 'The previous runs are still on the thread.',
  ...Object.fromEntries(
    ['{}', '[]', '1', '10', '"text"', 'true', 'false'].map((answer) => [
      `RunCreateStateless command {"resume":${answer}}`,
      'Nothing waits for an answer without a thread.',
    ]),
  ),
  'StorePutRequest namespace []': 'Nothing lies at the root.',
  'StoreDeleteRequest namespace []': 'Nothing lies at the root.',
};
const met: string[] = [];

describe('accepts every value that the public description allows', () => {
  test.each(endpoints)('$schema at $path', async ({ method = 'POST', path, schema, least = {} }) => {
    const wrong: unknown[] = [];
    const ran = await thread();
    await ask('POST', `/threads/${ran}/runs/wait`, { assistant_id: 'echo', input: { input: 'x' } });
    const { checkpoint } = Object((await ask('GET', `/threads/${ran}/state`)).body);
    const { assistant_id } = Object((await ask('POST', '/assistants', { graph_id: 'echo' })).body);
    const real: Real = {
      graph_id: ['echo'],
      ...(schema.endsWith('Create') || schema.startsWith('RunCreate') ? { assistant_id: ['echo', assistant_id] } : {}),
      ...(schema === 'AssistantCreate' ? { assistant_id: [randomUUID()] } : {}),
      schedule: ['0 9 * * *', '@daily'],
      node: ['answer'],
      goto: ['answer', ['answer'], { node: 'answer', input: 1 }, [{ node: 'answer', input: 1 }], [], null],
      interrupt_before: ['*', ['answer'], []],
      interrupt_after: ['*', ['answer'], []],
      as_node: ['answer'],
      checkpoint_id: [checkpoint.checkpoint_id],
      checkpoint_ns: [''],
    };
    for (const [field, described] of Object.entries(named(`#/components/schemas/${schema}`).properties ?? {})) {
      for (const value of [...fieldOf(field, described, real), null]) {
        if (value === null && field in least) continue;
        const at = path
          .replace(':thread', await thread())
          .replace(':ran', ran)
          .replace(':assistant', assistant_id);
        const { status, body } = await ask(method, at, { ...least, [field]: value });
        if (status < 300) continue;
        const what = `${schema} ${field} ${JSON.stringify(value)}`;
        if (what in refused && (status === 422 || status === 409)) met.push(what);
        else wrong.push(`${what}: ${status} ${JSON.stringify(body)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('except for the listed values', () => {
    expect([...new Set(met)].toSorted()).toEqual(Object.keys(refused).toSorted());
  });
});
