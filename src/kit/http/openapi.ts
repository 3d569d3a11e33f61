import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { createDocument } from 'zod-openapi';
import type {
  CreateDocumentOptions,
  oas32,
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { Header, OperationDescription, ResponseDescription } from './operation.ts';

const json = z.record(z.string(), z.unknown());
const openApiDocument = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), json)),
  components: z.looseObject({ schemas: z.record(z.string(), json), securitySchemes: z.record(z.string(), json) }),
});

/** The description of a service's interface, in OpenAPI 3.1. */
export type OpenApiDocument = z.infer<typeof openApiDocument>;

/** What the document says of all operations of a service. */
export interface ServiceDescription {
  title: string;
  version: string;
  /** What each group of operations is about, by its tag. */
  tags: Readonly<Record<string, string>>;
  /** An example of every JSON body, by the id of its operation. */
  examples: Readonly<Record<string, unknown>>;
  /** Paragraphs. */
  description: readonly string[];
  /** The schemas that have a name in the document. */
  schemas: Readonly<Record<string, z.ZodType>>;
  /** The values of fields that are absent, by the names of schemas. */
  schemaDefaults?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Every parameter of a path. */
  pathParameters: Readonly<Record<string, z.ZodType>>;
  /** The descriptions of query fields, in all operations. */
  queryDescriptions: Readonly<Record<string, string>>;
  /** The values of query fields that are absent, in all operations. */
  queryDefaults?: Readonly<Record<string, unknown>>;
  /** The meaning of each error. */
  errors: Readonly<Record<number, ResponseDescription>>;
  /** The errors of every operation that is not open. */
  commonErrors: Readonly<Record<number, ResponseDescription>>;
  securitySchemes: Record<string, oas32.SecuritySchemeObject>;
  /** The credentials of every operation that is not open: one of these. */
  security: readonly Record<string, string[]>[];
}

/** Describes operations from the schemas that parse their requests. */
export function describeOperations(
  operations: readonly OperationDescription[],
  service: ServiceDescription,
): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    (paths[openApiPath(operation.path)] ??= {})[operation.method] = describeOperation(operation, service);
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: service.title,
        version: service.version,
        description: service.description.join('\n\n'),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // Relative to this document, so that it holds under every base path.
      servers: [{ url: '.' }],
      tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
        name,
        description: named(service.tags, name),
      })),
      paths,
      components: { schemas: service.schemas, securitySchemes: service.securitySchemes },
    },
    options,
  );
  const plain = openApiDocument.parse(document);
  addDefaults(plain, service.schemaDefaults ?? {});
  return plain;
}

/** The path as OpenAPI writes it: `/v2/deployments/{deployment_id}`. */
export const openApiPath = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

const options: CreateDocumentOptions = {
  allowEmptySchema: { unknown: true, custom: true, pipe: true, lazy: true },
  override: ({ jsonSchema }) => {
    const { additionalProperties, properties = {} } = jsonSchema;
    const isAny = isDeepStrictEqual(additionalProperties, {});
    if (jsonSchema.type === 'object' && isAny && Object.keys(properties).length === 0) {
      // In words that generators of clients know: without them they let no value in.
      jsonSchema.additionalProperties = true;
    } else if (additionalProperties === false || isAny) {
      // Unknown fields are ignored, so that newer clients and services work.
      delete jsonSchema.additionalProperties;
    }
    // Names are text anyway.
    if (isDeepStrictEqual(jsonSchema.propertyNames, { type: 'string' })) delete jsonSchema.propertyNames;
    // The bounds of every number that JSON can hold say nothing.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    // A format says it better than the expression behind it.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
};

/** Adds the values of absent fields. Fields of two schemas may share a zod schema, so it can't hold them. */
function addDefaults(
  { components: { schemas } }: OpenApiDocument,
  schemaDefaults: NonNullable<ServiceDescription['schemaDefaults']>,
): void {
  for (const [name, defaults] of Object.entries(schemaDefaults)) {
    const properties = Object(named(schemas, name)['properties']);
    for (const [field, value] of Object.entries(defaults))
      Object.assign(Object(named(properties, field)), { default: value });
  }
}

function describeOperation(operation: OperationDescription, service: ServiceDescription): ZodOpenApiOperationObject {
  const {
    id,
    summary,
    description,
    tag,
    path,
    aliases = [],
    query,
    headers = [],
    body,
    open,
    scope,
    errors = [],
  } = operation;
  const errorResponses = Object.fromEntries(errors.map((status) => [status, named(service.errors, status)]));
  const responses: Readonly<Record<number, ResponseDescription>> = {
    ...(open ? {} : service.commonErrors),
    ...errorResponses,
    ...operation.responses,
  };
  const parameters = {
    path: pathShape(path, service),
    query: queryShape(query, service),
    header: headerShape(headers),
  };
  return {
    operationId: id,
    summary,
    description,
    ...(aliases.length === 0 ? {} : { 'x-aliases': aliases.map(openApiPath) }),
    tags: [tag],
    security: open ? [] : service.security.map((schemes) => mapValues(schemes, (own) => (scope ? [scope] : own))),
    ...(Object.values(parameters).some((shape) => Object.keys(shape).length > 0)
      ? { requestParams: mapValues(parameters, (shape) => z.object(shape)) }
      : {}),
    ...(body ? { requestBody: { required: body.required, content: bodyContent(body, service.examples, id) } } : {}),
    responses: mapValues(responses, describeResponse),
  };
}

const pathShape = (path: string, { pathParameters }: ServiceDescription): Record<string, z.ZodType> =>
  Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, named(pathParameters, name)]));

const queryShape = (
  query: z.ZodObject | undefined,
  { queryDescriptions, queryDefaults = {} }: ServiceDescription,
): Record<string, z.ZodType> =>
  mapValues(query?.shape ?? {}, (schema, name) =>
    schema.meta({
      param: { description: queryDescriptions[name] },
      ...(name in queryDefaults ? { default: queryDefaults[name] } : {}),
    }),
  );

const headerShape = (headers: readonly Header[]): Record<string, z.ZodType> =>
  Object.fromEntries(
    headers.map(({ name, description }) => [name, z.string().optional().meta({ param: { description } })]),
  );

function bodyContent(
  body: NonNullable<OperationDescription['body']>,
  examples: ServiceDescription['examples'],
  id: string,
): ZodOpenApiContentObject {
  if ('schema' in body) return { 'application/json': { schema: body.schema, example: named(examples, id) } };
  return { [body.type]: { schema: { type: 'string', format: 'binary' } } };
}

function describeResponse({ description, schema, type }: ResponseDescription): ZodOpenApiResponseObject {
  const content: ZodOpenApiContentObject = {
    ...(schema === undefined ? {} : { 'application/json': { schema } }),
    ...(type === undefined ? {} : { [type]: { schema: { type: 'string' } } }),
  };
  return { description, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

function named<K extends string | number, T>(all: Readonly<Record<K, T>>, name: K): T {
  const found = all[name];
  if (found === undefined) throw new Error(`The document does not describe ${name}.`);
  return found;
}

const mapValues = <T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
