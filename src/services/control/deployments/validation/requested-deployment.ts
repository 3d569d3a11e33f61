import { isTagRef } from '../../../../contract/control/repo-ref.ts';
import type { ResourceSpec } from '../../../../contract/control/resource-spec.ts';
import type { SourceConfigRequest, SourceRevisionConfigRequest } from '../../../../contract/control/source.ts';
import type { Secret, SecretReference } from '../../../../contract/control/secret.ts';
import { commandProblem, customUrlProblem, graphConfigPathProblem, imageProblem } from './value-problems.ts';
import { previewMark, reservedNames } from '../../../../contract/control/field-values.ts';
import { resourceProblems as problemsOf } from '../../../../contract/control/resource-bounds.ts';

/** The requested state of a deployment; a revision keeps a copy of it. */
export interface RequestedDeployment {
  source_config: SourceConfigRequest;
  source_revision_config: SourceRevisionConfigRequest;
  secrets: readonly Secret[];
  secret_references: readonly SecretReference[] | null;
}

/** Every rule that a requested deployment breaks, whether on a creation or after a change. */
export function requestProblems({
  source_config,
  source_revision_config,
  secrets,
  secret_references,
}: RequestedDeployment): string[] {
  const { build_on_push, install_command, build_command, custom_url, resource_spec } = source_config;
  const { repo_ref, graph_config_path, image_uri } = source_revision_config;
  return [
    build_on_push && repo_ref && isTagRef(repo_ref)
      ? `source_config.build_on_push cannot be true while source_revision_config.repo_ref is the tag ${repo_ref}: a tag does not move.`
      : undefined,
    graph_config_path ? graphConfigPathProblem(graph_config_path) : undefined,
    image_uri ? imageProblem(image_uri) : undefined,
    custom_url ? customUrlProblem(custom_url) : undefined,
    install_command ? commandProblem('source_config.install_command', install_command) : undefined,
    build_command ? commandProblem('source_config.build_command', build_command) : undefined,
    ...(resource_spec ? resourceProblems(resource_spec) : []),
    ...environmentProblems(secrets, secret_references),
  ].filter((reported) => reported !== undefined);
}

/** Fills in the document's default inside a spec: a variable without a value is empty. */
export function withEmptyValues(spec: ResourceSpec): ResourceSpec {
  const filled = (containers: ResourceSpec['sidecars']) =>
    containers?.map((container) => ({
      ...container,
      ...(container.env
        ? { env: container.env.map((variable) => ({ ...variable, value: variable.value ?? '' })) }
        : {}),
    }));
  return {
    ...spec,
    ...(spec.init_containers ? { init_containers: filled(spec.init_containers) } : {}),
    ...(spec.sidecars ? { sidecars: filled(spec.sidecars) } : {}),
  };
}

/** Variables that change how an agent starts here, besides those of every platform: secrets can't use these names. */
const reservedHere = new Set([
  'HOST',
  'HOME',
  'NODE_OPTIONS',
  'NODE_PATH',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LANGSMITH_TRACING',
  'LANGSERVE_GRAPHS',
]);
const reservedPrefix = 'LANDFALL_';

/** The longest value of a variable, in bytes: Linux' limit of one string, minus room for the name. */
export const maxValueLength = 120_000;

/** True for the names of variables that a deployment cannot set. */
const isReserved = (name: string): boolean =>
  reservedNames.has(name) || reservedHere.has(name) || (name.startsWith(reservedPrefix) && name !== previewMark);

/** The problems with a deployment's variables. Never contains a value. */
export function environmentProblems(
  secrets: readonly Secret[],
  references: readonly SecretReference[] | null | undefined,
): string[] {
  const reported: string[] = [];
  const seen = new Map<string, string>();
  for (const [field, name] of [
    ...secrets.map(({ name }) => ['secrets', name] as const),
    ...(references ?? []).map(({ name }) => ['secret_references', name] as const),
  ]) {
    const quoted = JSON.stringify(name.slice(0, 80));
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      reported.push(`${field}: ${quoted} is no name of an environment variable; use letters, digits and underscores.`);
    } else if (isReserved(name)) {
      reported.push(`${field}: ${quoted} is set by the platform itself; choose another name.`);
    }
    const before = seen.get(name);
    if (before === field) reported.push(`${field}: ${quoted} is given more than once.`);
    else if (before) reported.push(`${field}: ${quoted} is in ${before} too; give it in one of the two lists.`);
    seen.set(name, field);
  }
  for (const { name, value } of secrets) {
    if (Buffer.byteLength(value) > maxValueLength) {
      reported.push(
        `secrets: the value of ${JSON.stringify(name.slice(0, 80))} is longer than ${maxValueLength} bytes.`,
      );
    }
  }
  return reported;
}

/** Every rule that a well-formed ResourceSpec breaks (see the contract's `resource-bounds`). */
export const resourceProblems = (spec: ResourceSpec): string[] =>
  problemsOf(spec).map(({ path, message }) => `source_config.resource_spec.${path.join('.')} ${message}.`);
