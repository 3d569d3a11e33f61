import { deploymentCreateRequest, type DeploymentCreateRequest } from '../../../../contract/control/deployment.ts';
import { fieldRules } from '../../../../contract/control/field-rules.ts';
import { readRepoRef } from '../../../../contract/control/repo-ref.ts';
import { fieldAt, lengthProblems, unknownFields } from '../../validation/field.ts';
import { hostingProblem, type Hosting, nameProblem, repoRefProblem, tarballProblem } from './value-problems.ts';
import type { SourceConfigRequest } from '../../../../contract/control/source.ts';
import { accepted, againstRules, type ValidationResult } from '../../validation/refusal.ts';
import { readRepoUrl } from './repo-url.ts';
import { readBody } from '../../validation/shape.ts';
import { requestProblems, withEmptyValues } from './requested-deployment.ts';
import type { NewDeployment } from '../../store/records.ts';
import type { ListenerRecord } from '../../store/tables.ts';

type KnownListener = Pick<ListenerRecord, 'compute_type' | 'compute_config'>;

/** The facts that the rules of a creation need besides the request. */
export interface CreateFacts {
  /** Whether the tenant has the requested integration; unused without one. */
  integrationKnown: boolean;
  /** Why that integration can't clone `repo_url`; undefined where no reason is known. */
  integrationProblem?: string | undefined;
  /** The requested listener, if it is the tenant's. */
  listener: KnownListener | undefined;
  hosting: Hosting;
  /** Whether `internal_source` may leave `graph_config_path` to its first upload. */
  graphConfigLater: boolean;
  allowGit: readonly string[];
}

const graphConfigPath = 'source_revision_config.graph_config_path';

/** Parses the body of a creation, in either spelling (docs/design/contract.md#creation). */
export const readCreate = (body: unknown): ValidationResult<DeploymentCreateRequest> =>
  readBody(deploymentCreateRequest, body);

/** Returns the complete request of a creation, or every rule that it breaks. */
export function checkCreate(request: DeploymentCreateRequest, facts: CreateFacts): ValidationResult<NewDeployment> {
  const { name, source, source_config, source_revision_config } = request;
  const tooLong = lengthProblems(request);
  if (tooLong.length > 0) return againstRules(tooLong);
  const ref = source_revision_config.repo_ref == null ? undefined : readRepoRef(source_revision_config.repo_ref);
  const url = source_config.repo_url == null ? undefined : readRepoUrl(source_config.repo_url, facts.allowGit);
  const spec = source_config.resource_spec;
  const requested = {
    source_config: { ...source_config, ...(spec ? { resource_spec: withEmptyValues(spec) } : {}) },
    source_revision_config: { ...source_revision_config, ...(ref?.ok ? { repo_ref: ref.ref } : {}) },
    secrets: request.secrets,
    secret_references: request.secret_references ?? null,
  };
  const problems = [
    nameProblem(name, facts.hosting),
    hostingProblem(source, facts.hosting),
    ...fieldRules
      .filter(({ path, requiredFor }) => requiredFor.includes(source) && fieldAt(request, path) == null)
      .filter(({ path }) => !(facts.graphConfigLater && source === 'internal_source' && path === graphConfigPath))
      .map(({ path }) => `${path} is required with the source ${source}.`),
    ...unknownFields(source, request),
    ref && !ref.ok ? repoRefProblem(ref) : undefined,
    url && !url.ok ? url.problem : undefined,
    source_config.integration_id && !facts.integrationKnown
      ? 'source_config.integration_id is none of those that GET /v1/integrations/github/install lists.'
      : undefined,
    facts.integrationProblem,
    source === 'internal_source' && source_revision_config.source_tarball_path ? tarballProblem('unknown') : undefined,
    ...(source === 'external_docker' ? listenerProblems(source_config, facts.listener) : []),
    ...requestProblems(requested),
  ].filter((reported) => reported !== undefined);
  return problems.length > 0 ? againstRules(problems) : accepted({ name, source, ...requested });
}

/** The message for a `listener_id` that does not exist or belongs to another tenant. */
export const unknownListener = 'source_config.listener_id is none of those that GET /v2/listeners lists.';

/** The problems with the requested listener and its settings. @param listener the tenant's listener of this id. */
function listenerProblems({ listener_id, listener_config }: SourceConfigRequest, listener: KnownListener | undefined) {
  if (listener_id && !listener) return [unknownListener];
  const namespace = listener_config?.k8s_namespace;
  if (!namespace) return [];
  const field = 'source_config.listener_config.k8s_namespace';
  if (!listener) return [`${field} needs a source_config.listener_id.`];
  if (listener.compute_type !== 'k8s') {
    return [`${field} is for listeners of the compute type k8s; this one's is ${listener.compute_type}.`];
  }
  const allowedNamespaces = listener.compute_config.k8s_namespaces ?? [];
  if (allowedNamespaces.length === 0 || allowedNamespaces.includes(namespace)) return [];
  return [`${field} must be one of the listener's namespaces: ${allowedNamespaces.join(', ')}.`];
}
