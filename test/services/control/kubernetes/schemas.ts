/** Kubernetes' own schemas, and validation of objects with them. */
import { Validator } from '@cfworker/json-schema';
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const file = z.object({
  version: z.string(),
  origin: z.string(),
  objects: z.record(z.string(), z.string()),
  definitions: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** The data as stored in the folder of test data. */
export const kubernetesSchemas = file.parse(
  JSON.parse(readFileSync(new URL('../../../data/kubernetes/schemas.json', import.meta.url), 'utf8')),
);

const validators = new Map<string, Validator>();

function validatorOf(apiVersion: string, kind: string): Validator | undefined {
  const definition = kubernetesSchemas.objects[`${apiVersion} ${kind}`];
  if (definition === undefined) return undefined;
  const { definitions } = kubernetesSchemas;
  const known =
    validators.get(definition) ?? new Validator({ $ref: `#/definitions/${definition}`, definitions }, '7', false);
  validators.set(definition, known);
  return known;
}

/** All validation errors of an object, unknown fields included; an unknown kind is one error. */
export function schemaProblems(object: { apiVersion?: unknown; kind?: unknown }): string[] {
  const validator = validatorOf(String(object.apiVersion), String(object.kind));
  if (!validator) return [`no kind "${String(object.kind)}" is registered for version "${String(object.apiVersion)}"`];
  const { errors } = validator.validate(object);
  // Every error also appears for its parent schemas, which only say that something inside is wrong.
  return errors
    .filter(({ keyword }) => !['properties', 'items', '$ref', 'additionalProperties'].includes(keyword))
    .map(({ keyword, instanceLocation, error }) =>
      keyword === 'false'
        ? `unknown field "${fieldPath(instanceLocation)}"`
        : `${fieldPath(instanceLocation)}: ${error}`,
    );
}

/** `#/spec/containers/0/nope` as the API server writes it: `spec.containers[0].nope`. */
const fieldPath = (pointer: string): string =>
  pointer
    .replace(/^#\/?/, '')
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
