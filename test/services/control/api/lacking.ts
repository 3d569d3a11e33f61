import { fieldOf, ourSchema, plain, withoutNames, wordsOf } from '../../../kit/http/lacking.ts';
import type { OpenApi } from '../../../kit/http/shape.ts';
import { addenda } from './public-document.ts';
import { spelling } from './spelling.ts';

/** The parts of the addenda that `ours` does not have. */
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
    wanted
      .filter((field) => !fieldOf(ourSchema(name, ours, spelling), field, spelling))
      .map((field) => `${name}.${field}`);
  const words = (name: string, field: string, wanted: readonly string[]): string[] => {
    const own = wordsOf(plain(fieldOf(ourSchema(name, ours, spelling), field, spelling), ours));
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
