import type { Defaults, JsonSchema, NamedSchemas } from './named-schemas.ts';
import type { Answer, Operation } from './operation.ts';

/** A description of an interface, in OpenAPI 3.1. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}

/** What a service says about all of its operations alike. */
export interface Terms<Header extends string, Refused extends number> {
  title: string;
  version: string;
  /** Paragraphs. */
  description: readonly string[];
  schemas: NamedSchemas;
  /** Every header that some operation heeds. */
  headers: Readonly<Record<Header, { name: string; description: string }>>;
  /** Every part of a path that is not fixed, and whether it is a uuid. */
  pathParts: Readonly<Record<string, { description: string; isUuid: boolean }>>;
  /** What is said about the fields of a query, wherever they stand. */
  queryNotes: Readonly<Record<string, string>>;
  /** What counts where they are absent; nothing is said of it when absent itself. */
  queryDefaults?: Defaults;
  /** What each refusal means. */
  refusals: Readonly<Record<Refused, Answer>>;
  /** How everything may be refused that is not open. */
  common: Readonly<Record<number, Answer>>;
  securitySchemes: Record<string, JsonSchema>;
  /** Which of them whatever is not open wants. */
  security: readonly Record<string, readonly string[]>[];
}

/** Describes operations, from the schemas that requests are read by. */
export function describeInterface<Header extends string, Refused extends number>(
  operations: readonly Operation<Header, Refused>[],
  terms: Terms<Header, Refused>,
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation, terms);
  }
  return {
    openapi: '3.1.0',
    info: { title: terms.title, version: terms.version, description: terms.description.join('\n\n') },
    // Relative to this description, so that it holds under every base path.
    servers: [{ url: '.' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: terms.schemas.all(), securitySchemes: terms.securitySchemes },
  };
}

function describe<Header extends string, Refused extends number>(
  operation: Operation<Header, Refused>,
  terms: Terms<Header, Refused>,
): JsonSchema {
  const { id, summary, tag, body, answers, errors = [], open } = operation;
  const parameters = [...pathOf(operation.path, terms), ...queryOf(operation, terms), ...headersOf(operation, terms)];
  const refusals: Record<number, Answer> = open ? {} : { ...terms.common };
  for (const status of errors) refusals[status] = terms.refusals[status];
  return {
    operationId: id,
    summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [tag],
    security: open ? [] : terms.security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: bodyOf(body, terms.schemas) } : {}),
    responses: Object.fromEntries(
      Object.entries({ ...refusals, ...answers }).map(([status, answer]) => [status, answerOf(answer, terms.schemas)]),
    ),
  };
}

function answerOf({ description, schema, type }: Answer, schemas: NamedSchemas): JsonSchema {
  const content = {
    ...(schema === undefined ? {} : { 'application/json': { schema: schemas.of(schema) } }),
    ...(type === undefined ? {} : { [type]: { schema: { type: 'string' } } }),
  };
  return { description, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

function bodyOf(body: NonNullable<Operation<string, number>['body']>, schemas: NamedSchemas): JsonSchema {
  const { required } = body;
  if ('schema' in body) return { required, content: { 'application/json': { schema: schemas.of(body.schema) } } };
  return { required, content: { [body.type]: { schema: { type: 'string', format: 'binary' } } } };
}

function pathOf(path: string, { pathParts }: Pick<Terms<never, never>, 'pathParts'>): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const known = pathParts[name];
    if (!known) throw new Error(`nothing is said about ${name} in ${path}`);
    const schema = { type: 'string', ...(known.isUuid ? { format: 'uuid' } : {}) };
    return { name, in: 'path', required: true, description: known.description, schema };
  });
}

function queryOf(
  { query }: Pick<Operation<never, never>, 'query'>,
  { queryNotes, queryDefaults = {}, schemas }: Pick<Terms<never, never>, 'queryNotes' | 'queryDefaults' | 'schemas'>,
): JsonSchema[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    ...(queryNotes[name] === undefined ? {} : { description: queryNotes[name] }),
    schema: { ...schemas.of(schema), ...(name in queryDefaults ? { default: queryDefaults[name] } : {}) },
  }));
}

const headersOf = <Header extends string>(
  { headers = [] }: Pick<Operation<Header, never>, 'headers'>,
  terms: Pick<Terms<Header, never>, 'headers'>,
): JsonSchema[] =>
  headers.map((header) => ({ ...terms.headers[header], in: 'header', required: false, schema: { type: 'string' } }));
