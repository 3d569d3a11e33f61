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
import type { PushToken, UploadTarget } from './upload.ts';
import type { Revision, RevisionsList, RevisionsQuery } from './revision.ts';

/** What a caller may say about a write beside what is written. */
export interface WriteOptions extends CallOptions {
  /**
   * What makes this write one, sent as `Idempotency-Key`: 1 to 255 visible ASCII characters, never used for another
   * write. A service that heeds it (`features`) carries the write out once, however often and however close together it
   * is sent, and answers every repetition as the first time: `latest_revision_id` and `source_revision_config` of the
   * answer are those of the revision that the first one made, also where a newer one exists by now; everything else is
   * as it is now. So whoever got no answer sends the same again, with the same `ifLatest`, and binds to
   * `latest_revision_id` as always. The same key with another request is a 422. A refusal is not kept: the same key may
   * be sent again after it. Keys are kept for 7 days. control-service.md knows nothing of it.
   */
  idempotencyKey?: string | undefined;
}

/** What a caller may say about a change of something that exists. */
export interface ChangeOptions extends WriteOptions {
  /**
   * The latest revision that the change was decided on, sent as `If-Match`. A service that heeds it refuses the change
   * (412, a conflict) where another revision was made in the meantime; control-service.md knows nothing of it.
   */
  ifLatest?: string | undefined;
}

/** What a service offers beyond control-service.md. */
export interface ControlFeatures {
  /** It heeds `WriteOptions.idempotencyKey`: a write without an answer may be sent again with the same key. */
  idempotencyKeys: boolean;
}

/**
 * The deployment control service as a caller sees it, whether over HTTP or in the same process. Every failure of the
 * other party is a `ServiceError`. The operations after `getRevision` go beyond control-service.md: a service may lack
 * them (`isNotOffered`).
 */
export interface ControlService {
  /** POST /v2/deployments: 201 with the deployment and its first revision. */
  createDeployment(request: DeploymentCreateRequest, options?: WriteOptions): Promise<Deployment>;
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
  redeployRevision(deploymentId: string, revisionId: string, options?: ChangeOptions): Promise<Deployment>;
  /** GET /v1/integrations/github/{integrationId}/repos */
  listRepositories(integrationId: string, options?: CallOptions): Promise<GithubRepository[]>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/build_logs */
  buildLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/deploy_logs */
  deployLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;

  /**
   * GET /info: what the service offers. One that has no such endpoint offers none of it. Cheap to ask before every
   * write: a client remembers the answer for a while.
   */
  features(options?: CallOptions): Promise<ControlFeatures>;
}

/** The operations that only some callers need. Each of them goes beyond control-service.md's rules for the others. */
export interface WholeControlService extends ControlService {
  /**
   * DELETE /v2/deployments/{id}: asynchronous; reading the deployment ends as missing once it is gone. Its tracing project
   * stays, and keeps the name from being used again, unless it is to go as well.
   */
  deleteDeployment(id: string, query: { deleteTracingProject: boolean }, options?: CallOptions): Promise<void>;
  /** POST /v2/deployments/{id}/revisions/{revisionId}/interruption: ends a revision that is on its way. */
  interruptRevision(deploymentId: string, revisionId: string, options?: CallOptions): Promise<void>;
  /** POST /v2/deployments/{id}/upload-url: where a source tarball is put, and the path to name it by afterwards. */
  requestUpload(deploymentId: string, options?: CallOptions): Promise<UploadTarget>;
  /** POST /v2/deployments/{id}/push-token: what an image is pushed with, for `internal_docker` only. */
  requestPushToken(deploymentId: string, options?: CallOptions): Promise<PushToken>;
}
