import { fieldAliases } from '../../../src/contract/control/aliases.ts';
import { addenda, type OpenApi, type Schema } from './public-document.ts';

/** Where the schemas of the public document lie in ours, where that is not under the same name. */
const places: Readonly<Record<string, readonly string[]>> = {
  'ResourceSpec-Input': ['ResourceSpec'],
  'ResourceSpec-Output': ['ResourceSpec'],
  LocalObjectReference: ['ResourceSpec', 'image_pull_secrets', 'items'],
  ResourceRequirements: ['Container', 'resources'],
};

const ourName = new Map(fieldAliases.map((alias) => [alias.public, alias.contract]));
const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** A schema with references followed and the part that may be null left out. */
function plain(found: Schema | undefined, document: OpenApi): Schema | undefined {
  if (found?.$ref !== undefined) {
    return plain(document.components.schemas[found.$ref.replace('#/components/schemas/', '')], document);
  }
  const [some, ...others] = (found?.anyOf ?? []).filter((part) => !('type' in part && part.type === 'null'));
  return some !== undefined && others.length === 0 ? plain(some, document) : found;
}

function ourSchema(name: string, ours: OpenApi): Schema | undefined {
  const [root = name, ...steps] = places[name] ?? [name];
  let found = plain(ours.components.schemas[root], ours);
  for (const step of steps) found = plain(step === 'items' ? found?.items : found?.properties?.[step], ours);
  return found;
}

const fieldOf = (found: Schema | undefined, name: string): Schema | undefined =>
  found?.properties?.[name] ?? found?.properties?.[ourName.get(name) ?? ''];

const wordsOf = (found: Schema | undefined): unknown[] =>
  found?.enum ?? (found?.const === undefined ? [] : [found.const]);

/** Every path with its method, parameter, status, field, required field and word of `theirs` that `ours` does not have. */
export function lacking(theirs: OpenApi, ours: OpenApi): string[] {
  return [...lackingOperations(theirs, ours), ...lackingFields(theirs, ours)];
}

function lackingOperations(theirs: OpenApi, ours: OpenApi): string[] {
  const known = new Map(Object.entries(ours.paths).map(([path, methods]) => [withoutNames(path), methods]));
  return Object.entries(theirs.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const where = `${method.toUpperCase()} ${path}`;
      const own = known.get(withoutNames(path))?.[method];
      if (!own) return [where];
      const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
      const ownNames = new Set(own.parameters.map(({ name }) => name));
      return [
        ...queries.filter(({ name }) => !ownNames.has(name)).map(({ name }) => `${where} ?${name}`),
        ...Object.keys(operation.responses)
          .filter((status) => !(status in own.responses))
          .map((status) => `${where} ${status}`),
      ];
    }),
  );
}

function lackingFields(theirs: OpenApi, ours: OpenApi): string[] {
  return Object.entries(theirs.components.schemas).flatMap(([name, theirSchema]) => {
    const own = ourSchema(name, ours);
    if (!own) return [name];
    const lost = wordsOf(theirSchema).filter((word) => !wordsOf(own).includes(word));
    const fields = Object.entries(theirSchema.properties ?? {}).flatMap(([field, theirField]) => {
      const ownField = fieldOf(own, field);
      if (!ownField) return [`${name}.${field}`];
      const ownWords = wordsOf(plain(ownField, ours));
      return wordsOf(plain(theirField, theirs))
        .filter((word) => !ownWords.includes(word))
        .map((word) => `${name}.${field} ${String(word)}`);
    });
    const needed = (theirSchema.required ?? []).filter((field) => {
      const ownName = fieldOf(own, field) === own.properties?.[field] ? field : (ourName.get(field) ?? field);
      return fieldOf(own, field) !== undefined && !own.required?.includes(ownName);
    });
    return [
      ...lost.map((word) => `${name} ${String(word)}`),
      ...fields,
      ...needed.map((field) => `${name}.${field} required`),
    ];
  });
}

/** What of the addenda `ours` does not have. */
export function lackingOfAddenda(ours: OpenApi): string[] {
  const known = new Map(Object.entries(ours.paths).map(([path, methods]) => [withoutNames(path), methods]));
  const endpoints = addenda.endpoints.flatMap(({ method, path, query }) => {
    const own = known.get(withoutNames(path))?.[method.toLowerCase()];
    if (!own) return [`${method} ${path}`];
    return query
      .filter((name) => !own.parameters.some((one) => one.name === name))
      .map((name) => `${method} ${path} ?${name}`);
  });
  const fields = (name: string, wanted: readonly string[]): string[] =>
    wanted.filter((field) => !fieldOf(ourSchema(name, ours), field)).map((field) => `${name}.${field}`);
  const words = (name: string, field: string, wanted: readonly string[]): string[] => {
    const own = wordsOf(plain(fieldOf(ourSchema(name, ours), field), ours));
    return wanted.filter((word) => !own.includes(word)).map((word) => `${name}.${field} ${word}`);
  };
  const listed = ours.paths['/v2/deployments']?.['get']?.parameters ?? [];
  return [
    ...endpoints,
    ...fields('Deployment', addenda.deployment_fields),
    ...fields('Revision', addenda.revision_fields),
    ...fields('SourceRevisionConfig', addenda.source_revision_config_fields),
    ...fields('DeploymentCreateRequest', addenda.create_fields),
    ...fields('DeploymentPatchRequest', addenda.patch_fields),
    ...addenda.list_deployments_query
      .filter((name) => !listed.some((one) => one.name === name))
      .map((name) => `GET /v2/deployments ?${name}`),
    ...words('Deployment', 'source', addenda.enums.source),
    ...words('SourceConfig', 'deployment_type', addenda.enums.deployment_type),
    ...words('Deployment', 'status', addenda.enums.deployment_status),
    ...words('Revision', 'status', addenda.enums.revision_status),
  ];
}
