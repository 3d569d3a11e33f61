import type { CallOptions } from '../call-options.ts';
import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  DeploymentsList,
  DeploymentsQuery,
} from './deployment.ts';
import type { GithubIntegration, GithubRepository } from './integration.ts';
import type { ListenersList } from './listener.ts';
import type { LogPage, LogQuery } from './log.ts';
import type { Revision, RevisionsList, RevisionsQuery } from './revision.ts';

/** What a caller may say about a change beside the change itself. */
export interface ChangeOptions extends CallOptions {
  /**
   * The latest revision that the change was decided on, sent as `If-Match`. A service that heeds it refuses the change
   * (412, a conflict) where another revision was made in the meantime; control-service.md knows nothing of it.
   */
  ifLatest?: string | undefined;
}

/**
 * The deployment control service as a caller sees it, whether over HTTP or in the same process. Every failure of the
 * other party is a `ServiceError`. The operations after `getRevision` go beyond control-service.md: a service may lack
 * them (`isNotOffered`).
 */
export interface ControlService {
  /** POST /v2/deployments: 201 with the deployment and its first revision. */
  createDeployment(request: DeploymentCreateRequest, options?: CallOptions): Promise<Deployment>;
  /** GET /v2/deployments/{id} */
  getDeployment(id: string, options?: CallOptions): Promise<Deployment>;
  /** PATCH /v2/deployments/{id}: `latest_revision_id` of the answer is the revision that this made, where it made one. */
  patchDeployment(id: string, request: DeploymentPatchRequest, options?: ChangeOptions): Promise<Deployment>;
  /** GET /v2/deployments/{id}/revisions/{revisionId} */
  getRevision(deploymentId: string, revisionId: string, options?: CallOptions): Promise<Revision>;
  /** GET /v1/integrations/github/install */
  listIntegrations(options?: CallOptions): Promise<GithubIntegration[]>;
  /** GET /v2/listeners */
  listListeners(page: { limit?: number; offset?: number }, options?: CallOptions): Promise<ListenersList>;

  /** GET /v2/deployments */
  listDeployments(query: DeploymentsQuery, options?: CallOptions): Promise<DeploymentsList>;
  /** GET /v2/deployments/{id}/revisions, newest first */
  listRevisions(deploymentId: string, query: RevisionsQuery, options?: CallOptions): Promise<RevisionsList>;
  /** POST /v2/deployments/{id}/revisions/{revisionId}/redeploy: makes a new revision of an old one's build. */
  redeployRevision(deploymentId: string, revisionId: string, options?: CallOptions): Promise<Deployment>;
  /** GET /v1/integrations/github/{integrationId}/repos */
  listRepositories(integrationId: string, options?: CallOptions): Promise<GithubRepository[]>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/build_logs */
  buildLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/deploy_logs */
  deployLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;
}
