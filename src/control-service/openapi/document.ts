import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { componentSchemas, schemaOf } from './components.ts';
import type { JsonSchema } from './components.ts';
import { databaseAway, errorAnswers, refusedCallers } from './errors.ts';
import type { Answer, Operation } from './operation.ts';
import { operations } from './operations.ts';
import { headerParameters, pathParameters, queryNotes } from './parameters.ts';
import { spellSchemas } from './spelling.ts';

/** The version of the interface that is served (control-service.md, Versioning). */
export const interfaceVersion = '0.1.0';

/** A description of the interface, in OpenAPI 3.1. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}

/** The three ways in which a caller may show who it is (control-service.md, Authentication). */
const securitySchemes = {
  'API Key': { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of the tenant.' },
  'Tenant ID': {
    type: 'apiKey',
    in: 'header',
    name: 'X-Tenant-Id',
    description: 'Beside a key: the tenant that is meant, which the key has to be good for.',
  },
  'Bearer Auth': { type: 'http', scheme: 'bearer', description: 'The key as a bearer token.' },
};
const security = [{ 'API Key': [] }, { 'API Key': [], 'Tenant ID': [] }, { 'Bearer Auth': [] }];

/** Describes all that is served, from the schemas that requests are read by, in either spelling of the fields. */
export function openApiDocument(spelling: FieldSpelling): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Landfall control service', version: interfaceVersion, description },
    // Relative to this description, so that it holds under every base path.
    servers: [{ url: '.' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: spellSchemas(componentSchemas(), spelling), securitySchemes },
  };
}

const description = [
  'Creates deployments of agent servers and their revisions, and runs them.',
  'Refusals have one field, `detail`: a sentence, or at a 422 a list of the fields that are wrong.',
  'Fields that are not known are passed over. `langgraph_config_path` and `redis_*` are read as well as the names here.',
].join('\n\n');

function describe(operation: Operation): JsonSchema {
  const { id, summary, tag, body, answers, errors = [], open } = operation;
  const parameters = [...pathOf(operation), ...queryOf(operation), ...headersOf(operation)];
  const refusals: Record<number, Answer> = open ? {} : { ...refusedCallers, ...databaseAway };
  for (const status of errors) refusals[status] = errorAnswers[status];
  return {
    operationId: id,
    summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [tag],
    ...(open ? { security: [] } : { security }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: bodyOf(body) } : {}),
    responses: Object.fromEntries(
      Object.entries({ ...answers, ...refusals }).map(([status, answer]) => [status, answerOf(answer)]),
    ),
  };
}

function answerOf({ description: told, schema, type }: Answer): JsonSchema {
  if (schema) return { description: told, content: { 'application/json': { schema: schemaOf(schema) } } };
  return { description: told, ...(type === undefined ? {} : { content: { [type]: { schema: { type: 'string' } } } }) };
}

function bodyOf(body: NonNullable<Operation['body']>): JsonSchema {
  const { required } = body;
  if ('schema' in body) return { required, content: { 'application/json': { schema: schemaOf(body.schema) } } };
  return { required, content: { [body.type]: { schema: { type: 'string', format: 'binary' } } } };
}

function pathOf({ path }: Operation): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const known = pathParameters[name];
    if (!known) throw new Error(`nothing is said about ${name} in ${path}`);
    const schema = { type: 'string', ...(known.isUuid ? { format: 'uuid' } : {}) };
    return { name, in: 'path', required: true, description: known.description, schema };
  });
}

function queryOf({ query }: Operation): JsonSchema[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    ...(queryNotes[name] === undefined ? {} : { description: queryNotes[name] }),
    schema: schemaOf(schema),
  }));
}

const headersOf = ({ headers = [] }: Operation): JsonSchema[] =>
  headers.map((header) => ({ ...headerParameters[header], in: 'header', required: false, schema: { type: 'string' } }));
