import { isTagRef } from '../../../contract/control/repo-ref.ts';
import type { ResourceSpec } from '../../../contract/control/resource-spec.ts';
import type { SourceConfigRequest, SourceRevisionConfigRequest } from '../../../contract/control/source.ts';
import type { Secret, SecretReference } from '../../../contract/control/secret.ts';
import { commandProblem } from './commands.ts';
import { environmentProblems } from './environment-names.ts';
import { resourceProblems } from './resource-problems.ts';
import { customUrlProblem, graphConfigPathProblem, imageProblem } from './names.ts';

/** The requested state of a deployment, as far as rules need it. */
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
