import type { Deployment } from '../../../contract/control/deployment.ts';
import type { GithubIntegration, GithubRepository } from '../../../contract/control/integration.ts';
import type { Listener } from '../../../contract/control/listener.ts';
import type { LogEntry, LogPage } from '../../../contract/control/log.ts';
import type { Revision } from '../../../contract/control/revision.ts';
import type { Source, SourceRevisionConfig } from '../../../contract/control/source.ts';
import { revisionConfigResponse, sourceConfigResponse } from '../api/response-schemas.ts';
import { statusMessage } from './status.ts';
import type { DeploymentView } from '../store/records.ts';
import type {
  DeploymentRecord,
  IntegrationRecord,
  ListenerRecord,
  LogLine,
  RepositoryRecord,
  RevisionRecord,
} from '../store/tables.ts';

/** The address of a deployment's agent, for all its revisions. */
const agentAddress = (baseUrl: string, deploymentId: string): string => `${baseUrl}/agents/${deploymentId}`;

/** The `custom_url` in responses: the caller's for `external_docker`, else the address of the agent. */
export const customUrl = (
  { id, source, source_config }: Pick<DeploymentRecord, 'id' | 'source' | 'source_config'>,
  baseUrl: string,
): string | null =>
  source === ('external_docker' satisfies Source) ? (source_config.custom_url ?? null) : agentAddress(baseUrl, id);

/** The `url` in responses; null for agents in a listener's cluster, which this service does not serve. */
export const agentUrl = (
  deployment: Pick<DeploymentRecord, 'id' | 'source' | 'source_config'>,
  baseUrl: string,
): string | null =>
  customUrl(deployment, baseUrl) ??
  (deployment.source_config.listener_id ? null : agentAddress(baseUrl, deployment.id));

const asNulls = (shape: object) => Object.fromEntries(Object.keys(shape).map((name) => [name, null]));
/** Every setting as null, because responses include settings that a deployment lacks. */
const noSourceConfig = sourceConfigResponse.parse(asNulls(sourceConfigResponse.shape));
const noRevisionConfig = revisionConfigResponse.parse(asNulls(revisionConfigResponse.shape));

/** Serializes a deployment (docs/design/contract.md#deployments), with every nullable field present. */
export function toDeploymentResponse({ deployment, latest }: DeploymentView, baseUrl: string): Deployment {
  const { source_config } = deployment;
  const custom_url = customUrl(deployment, baseUrl);
  return {
    id: deployment.id,
    tenant_id: deployment.tenant_id,
    name: deployment.name,
    source: deployment.source,
    source_config: { ...noSourceConfig, ...source_config, custom_url },
    source_revision_config: revisionConfig(latest),
    secrets: deployment.secrets,
    secret_references: deployment.secret_references,
    created_at: deployment.created_at.toISOString(),
    updated_at: deployment.updated_at.toISOString(),
    status: deployment.status,
    status_message: statusMessage({
      status: deployment.status,
      deletion: deployment.deletion,
      listenerId: source_config.listener_id ?? null,
      deletionProblem: deployment.deletion_problem,
    }),
    latest_revision_id: deployment.latest_revision_id,
    active_revision_id: deployment.active_revision_id,
    image_version: deployment.image_version,
    tracer_session_id: deployment.tracing_project_id,
    url: agentUrl(deployment, baseUrl),
    ...(deployment.idle_after_seconds === null ? {} : { idle_after_seconds: deployment.idle_after_seconds }),
  };
}

/** The address of a held revision. No deployment has such an id. */
const heldAddress = (baseUrl: string, deploymentId: string, revisionId: string): string =>
  agentAddress(baseUrl, `${deploymentId}@${revisionId}`);

/** Serializes a revision. */
export function toRevisionResponse(revision: RevisionRecord, baseUrl: string): Revision {
  return {
    id: revision.id,
    created_at: revision.created_at.toISOString(),
    updated_at: revision.updated_at.toISOString(),
    status: revision.status,
    status_message: revision.status_message,
    source: revision.source,
    source_revision_config: revisionConfig(revision),
    ...(revision.build_of === null ? {} : { build_of: revision.build_of }),
    ...(revision.build_digest === null ? {} : { build_digest: revision.build_digest }),
    ...(revision.build_warnings.length === 0 ? {} : { build_warnings: revision.build_warnings }),
    ...(revision.hold_seconds === null
      ? {}
      : {
          hold: {
            address: heldAddress(baseUrl, revision.deployment_id, revision.id),
            ends_at: revision.hold_ends_at?.toISOString() ?? null,
            decision: revision.hold_decision,
          },
        }),
  };
}

function revisionConfig(revision: RevisionRecord): SourceRevisionConfig {
  const { source_revision_config, repo_commit_sha, source_tarball_digest } = revision;
  return { ...noRevisionConfig, ...source_revision_config, repo_commit_sha, source_tarball_digest };
}

/** Serializes a listener. */
export function toListenerResponse(listener: ListenerRecord): Listener {
  const { id, version, compute_type, compute_id, compute_config, last_report_at, created_at, updated_at } = listener;
  return {
    id,
    version,
    compute_type,
    compute_id,
    compute_config,
    last_report_at: last_report_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

/** Serializes an integration. */
export const toIntegrationResponse = ({ id, installation_id, name }: IntegrationRecord): GithubIntegration => ({
  id,
  installation_id: Number(installation_id),
  name,
});

/** Serializes a repository. */
export const toRepositoryResponse = (repository: RepositoryRecord): GithubRepository => ({
  host_integration_id: repository.integration_id,
  id: Number(repository.id),
  name: repository.name,
  owner: repository.owner,
  url: repository.url,
  default_branch: repository.default_branch,
});

/** Serializes a line of a log. */
export const toLogLineResponse = ({ id, at, level, message }: LogLine): LogEntry => ({
  id,
  timestamp: at.toISOString(),
  level,
  message,
});

/**
 * Serializes a page of log lines. It has the offset of the next page if it is full or its log may still grow: a request
 * from there returns the new lines, or an empty page without an offset.
 */
export const toLogResponse = (
  lines: readonly LogLine[],
  { limit, mayGrow }: { limit: number; mayGrow: boolean },
): LogPage => ({
  logs: lines.map(toLogLineResponse),
  next_offset: lines.length < limit && !mayGrow ? null : (lines.at(-1)?.id ?? null),
});
