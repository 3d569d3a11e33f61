import { Validator } from '@cfworker/json-schema';
import * as z from 'zod';
import { isObject } from '../../../src/kit/json-object.ts';
import { additions } from '../../services/control/api/additions.ts';
import { publicDocument } from '../../services/control/api/public-document.ts';

/** A schema of the document, as it stands there. */
export type PublicSchema = Record<string, unknown>;

const schema = z.record(z.string(), z.unknown());
const content = z.object({ 'application/json': z.object({ schema: schema.optional() }) });
const response = z.object({ content: content.optional() });
const withBody = z.looseObject({ requestBody: z.object({ content }).optional() });

/** The schemas that the document gives names, as they stand there. */
export const namedSchemas = z.record(z.string(), schema).parse(publicDocument.components.schemas);
const listed = additions.flatMap(({ what }) => what);

/** An operation of the document. */
export interface PublicOperation {
  method: string;
  path: string;
  /** By status, the schema of its answer; undefined where the document names the status alone. */
  answers: ReadonlyMap<number, PublicSchema | undefined>;
  body: PublicSchema | undefined;
}

/** All of them. */
export const publicOperations: readonly PublicOperation[] = Object.entries(publicDocument.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      answers: new Map(
        Object.entries(operation.responses).map(([status, reported]) => [
          Number(status),
          response.parse(reported).content?.['application/json'].schema,
        ]),
      ),
      body: withBody.parse(operation).requestBody?.content['application/json'].schema,
    })),
);

/** Additions that an answer really had. */
export const seenAdditions = new Set<string>();

/** The shape of a refusal whose schema the document leaves open (docs/design/contract.md#errors). */
const refusal: PublicSchema = {
  type: 'object',
  required: ['detail'],
  properties: { detail: { type: 'string', minLength: 1 } },
  additionalProperties: false,
};

/**
 * What of an answer is not as the document has it, strictly: a status that it does not name, a field that it does not
 * have, a missing one, a wrong type, format or word. What `additions` lists is none of it.
 *
 * @param body undefined where the answer has none.
 */
export function problemsOf({ method, path, answers }: PublicOperation, status: number, body: unknown): string[] {
  const where = `${method} ${path} ${status}`;
  const own = [where, `* ${status}`].find((what) => listed.includes(what));
  if (!answers.has(status)) {
    if (own === undefined) return [`${where} is no answer of the public service`];
    seenAdditions.add(own);
  }
  if (status === 204) return body === undefined ? [] : [`${where} has a body`];
  const reported = answers.get(status);
  // Of the answer to a bulk deletion the document says nothing, not even that there is one.
  const wanted = reported && Object.keys(reported).length === 0 ? undefined : reported;
  if (status < 300) return wanted ? wrongIn(wanted, body, where) : [];
  return wrongIn(wanted ?? refusal, body, where);
}

const branches = new Set(['properties', 'items', '$ref', 'anyOf', 'additionalProperties']);
const validators = new Map<PublicSchema, Validator>();

function wrongIn(wanted: PublicSchema, body: unknown, where: string): string[] {
  let validator = validators.get(wanted);
  if (!validator) {
    validator = new Validator({ ...closed(wanted), $defs }, '2020-12', false);
    validators.set(wanted, validator);
  }
  noteAdditions(wanted, body);
  const { errors } = validator.validate(body);
  const leaves = errors.filter(({ keyword }) => !branches.has(keyword));
  return (leaves.length > 0 ? leaves : errors).map((each) => `${where} ${each.instanceLocation}: ${each.error}`);
}

/** A schema that takes no field it does not name, with references into `$defs`, and with what is listed as added. */
function closed(given: PublicSchema, name?: string): PublicSchema {
  const inner = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(inner) : isObject(value) ? closed(value) : value;
  const { $ref, properties, ...rest } = given;
  const others = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inner(value)]));
  if (typeof $ref === 'string') return { ...others, $ref: $ref.replace('#/components/schemas/', '#/$defs/') };
  if (!isObject(properties)) return others;
  const fields = Object.entries(properties).map(([field, value]) => [field, inner(value)] as const);
  const added = addedTo(name).map((field) => [field, true] as const);
  return { ...others, properties: Object.fromEntries([...fields, ...added]), additionalProperties: false };
}

const addedTo = (name: string | undefined): string[] =>
  listed.filter((what) => what.startsWith(`${name}.`)).map((what) => what.slice(`${name}.`.length));

const $defs: PublicSchema = Object.fromEntries(
  Object.entries(namedSchemas).map(([name, each]) => [name, closed(each, name)]),
);

/** Notes which additions an answer has, going down into it by the schema. */
function noteAdditions(wanted: PublicSchema, value: unknown): void {
  const { $ref, anyOf, items, properties } = wanted;
  if (typeof $ref === 'string') {
    const name = $ref.replace('#/components/schemas/', '');
    for (const field of addedTo(name)) if (isObject(value) && field in value) seenAdditions.add(`${name}.${field}`);
    noteAdditions(namedSchemas[name] ?? {}, value);
  }
  if (Array.isArray(anyOf)) for (const part of anyOf) if (isObject(part)) noteAdditions(part, value);
  if (isObject(items) && Array.isArray(value)) for (const each of value) noteAdditions(items, each);
  if (!isObject(properties) || !isObject(value)) return;
  for (const [field, part] of Object.entries(properties)) if (isObject(part)) noteAdditions(part, value[field]);
}
