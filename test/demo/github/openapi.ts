import { Validator, type Schema } from '@cfworker/json-schema';
import * as z from 'zod';
import type { Exchange } from '../../../src/demo/github/exchange.ts';
import { recorded } from '../../recorded.ts';

const schema = z.record(z.string(), z.unknown());
const reference = z.object({ $ref: z.string() });
const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().optional(),
  schema,
});
const content = z.record(z.string(), z.looseObject({ schema: schema.optional() }));
const response = z.looseObject({ content: content.optional() });
const operation = z.looseObject({
  parameters: z.array(z.union([reference, parameter])).optional(),
  requestBody: z.looseObject({ required: z.boolean().optional(), content }).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), schema),
    parameters: z.record(z.string(), parameter),
    responses: z.record(z.string(), response),
  }),
});

/** GitHub's OpenAPI document, cut to the operations that are used: test/data/github-openapi/README.md. */
const document = documentShape.parse(recorded('github-openapi/api.github.com.json'));

/** Responses of any operation, whether or not the document lists them. */
const always = new Set([401, 403, 404, 422, 429]);
const errorBody: Schema = { type: 'object', required: ['message'], properties: { message: { type: 'string' } } };

/**
 * Converts OpenAPI 3.0 to JSON Schema: `nullable`, and references. Fixes two mistakes of the document that GitHub's own
 * responses contradict: an account that is both a person and an enterprise, and addresses that are empty if unknown.
 */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    if (key === '$ref' && typeof each === 'string')
      return [key, each.replace('#/components/schemas/', '#/definitions/')];
    const isEither = key === 'allOf' && Array.isArray(each) && titlesOf(each) === 'Simple User, Enterprise';
    return [isEither ? 'anyOf' : key, toJsonSchema(each)];
  });
  const { nullable, ...rest } = Object.fromEntries(entries);
  if (rest['default'] === '' && rest['format'] === 'uri') return { anyOf: [{ const: '' }, rest] };
  if (nullable === true) return { anyOf: [{ type: 'null' }, rest] };
  return nullable === undefined ? rest : { ...rest, nullable };
}

const titlesOf = (schemas: unknown[]): string =>
  schemas.map((each) => (typeof each === 'object' && each !== null && 'title' in each ? each.title : '')).join(', ');

const definitions = schema.parse(toJsonSchema(document.components.schemas));
/** Keywords whose errors only repeat nested errors. */
const branches = new Set(['properties', 'items', '$ref', 'anyOf', 'allOf', 'oneOf']);
const validators = new Map<unknown, Validator>();

function problemsWith(value: unknown, wanted: Record<string, unknown>, where: string): string[] {
  let validator = validators.get(wanted);
  if (!validator) {
    validator = new Validator({ ...schema.parse(toJsonSchema(wanted)), definitions }, '7', false);
    validators.set(wanted, validator);
  }
  // Undefined values are not sent.
  const { valid, errors } = validator.validate(JSON.parse(JSON.stringify(value)));
  if (valid) return [];
  const leaves = errors.filter(({ keyword }) => !branches.has(keyword));
  const reported = (leaves.length > 0 ? leaves : errors).slice(0, 8);
  return reported.map(({ instanceLocation, error }) => `${where} ${instanceLocation}: ${error}`);
}

/** The target of a reference, or the value itself. */
function resolved<T>(
  given: T | { $ref: string },
  among: Record<string, T>,
  is: (value: T | { $ref: string }) => value is T,
): T {
  if (is(given)) return given;
  const found = among[given.$ref.slice(given.$ref.lastIndexOf('/') + 1)];
  if (found === undefined) throw new Error(`the document has no ${given.$ref}`);
  return found;
}

type Parameter = z.infer<typeof parameter>;
type Response = z.infer<typeof response>;
const isParameter = (value: Parameter | { $ref: string }): value is Parameter => !('$ref' in value);
const isResponse = (value: Response | { $ref: string }): value is Response => !('$ref' in value);

/** A text of the path or the query as the value that it represents. */
function spelled(text: string, { type }: Record<string, unknown>): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d+$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/**
 * Everything in which a request and its answer differ from GitHub's own document: operation, parameters, bodies, the
 * status, and names that the document does not know. Besides, a completed check run needs its conclusion.
 */
export function problemsOf({ call, answer }: Exchange): string[] {
  const { method, template, path } = call;
  const found = document.paths[template]?.[method.toLowerCase()];
  if (!found) return [`${method} ${path} is none of the operations that were taken from GitHub's document`];
  const problems = [...problemsOfRequest(call, found), ...problemsOfAnswer(answer, found)];
  return problems.map((problem) => `${method} ${template}: ${problem}`);
}

type Operation = z.infer<typeof operation>;

function* problemsOfRequest(call: Exchange['call'], { parameters = [], requestBody }: Operation): Generator<string> {
  const known = parameters.map((each) => resolved(each, document.components.parameters, isParameter));
  for (const { name, in: place, required, schema: wanted } of known) {
    const text = place === 'path' ? call.params[name] : place === 'query' ? call.query.get(name) : call.headers[name];
    if (text == null) {
      if (required) yield `the ${place} parameter ${name} is missing`;
      continue;
    }
    yield* problemsWith(spelled(text, wanted), wanted, `${place} parameter ${name}`);
  }
  for (const name of call.query.keys()) {
    if (!known.some((each) => each.in === 'query' && each.name === name)) yield `unknown query parameter ${name}`;
  }
  const wanted = requestBody?.content['application/json']?.schema;
  if (!wanted) {
    if (call.rawBody !== '' && Object.keys(call.body).length > 0) yield 'a body is sent where none is taken';
    return;
  }
  if (call.rawBody === '') {
    if (requestBody?.required) yield 'the body is missing';
    return;
  }
  yield* problemsWith(call.body, wanted, 'body');
  const properties = schema.safeParse(wanted['properties']);
  for (const name of properties.success ? Object.keys(call.body) : []) {
    if (!(name in (properties.data ?? {}))) yield `unknown field ${name} in the body`;
  }
  const isRun = call.template.includes('/check-runs') && call.method !== 'GET';
  if (isRun && call.body['status'] === 'completed' && call.body['conclusion'] == null) {
    yield 'a completed check run is sent without its conclusion';
  }
}

function* problemsOfAnswer({ status, body }: Exchange['answer'], { responses }: Operation): Generator<string> {
  const reported = responses[String(status)];
  if (!reported) {
    if (always.has(status) || status >= 500) yield* problemsWith(body, { ...errorBody }, `answer ${status}`);
    else yield `the document has no answer ${status}`;
    return;
  }
  const contents = resolved(reported, document.components.responses, isResponse).content;
  if (!contents) {
    if (status >= 400) yield* problemsWith(body, { ...errorBody }, `answer ${status}`);
    else if (body !== undefined && Object.keys(Object(body)).length > 0)
      yield `answer ${status} has a body that the document does not have`;
    return;
  }
  const wanted = contents['application/json']?.schema;
  if (!wanted) return;
  if (body === undefined) yield `answer ${status} has no body`;
  else yield* problemsWith(body, wanted, `answer ${status}`);
}
