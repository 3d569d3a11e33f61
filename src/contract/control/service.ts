import type { CallOptions } from '../call-options.ts';
import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  DeploymentsList,
  DeploymentsQuery,
  IdleAfter,
} from './deployment.ts';
import type { GithubIntegration, GithubRepository } from './integration.ts';
import type { ListenersList } from './listener.ts';
import type { LogPage, LogQuery } from './log.ts';
import type { PushToken, UploadTarget } from './upload.ts';
import type { BaselineRequest, StoredBaseline } from './baseline.ts';
import type { HistoryEntry } from './revision-history.ts';
import type { StoredVerdict, VerdictReport } from './verdict.ts';
import type { HoldDecisionRequest, Revision, RevisionsList, RevisionsQuery } from './revision.ts';

export interface WriteOptions extends CallOptions {
  /**
   * Identifies this write, sent as `Idempotency-Key`: 1 to 255 visible ASCII characters, never used for another write.
   * A service that supports it (`features`) executes the write once, however often it is sent, and returns the same
   * `latest_revision_id` and `source_revision_config` every time: those of the revision that the first request created,
   * even if there is a newer one; the other fields are current. A client without a response repeats the request with
   * the same `ifLatest`, and uses `latest_revision_id` as usual. The same key with another request is a 422. Refusals
   * are not stored, so the key can be used again. Keys are kept for 7 days. Not part of the contract.
   */
  idempotencyKey?: string | undefined;
  /**
   * The seconds for which a revision that this write makes is held before it gets traffic, sent as `Landfall-Hold`.
   * Only for a service that holds revisions (`features`). Not part of the contract.
   */
  holdSeconds?: number | undefined;
  /**
   * The full SHA of the commit that a revision which this write makes is built from, whatever the head of its ref is
   * by then, sent as `Landfall-Commit`. Only for a service that pins commits (`features`). Not part of the contract.
   */
  commit?: string | undefined;
  /**
   * The id of a revision, of another deployment or of this one, whose build this write deploys, sent as
   * `Landfall-Build-Of`: its commit, without a second build. Only for a service that copies builds (`features`). Not part of the contract.
   */
  buildOf?: string | undefined;
  /**
   * After how many seconds without a request the agent of the deployment is scaled to zero, sent as
   * `Landfall-Idle-After`. Only for a service that does this (`features`). Not part of the contract.
   */
  idleAfter?: IdleAfter | undefined;
}

/** The options of a report, which is repeated under the same key until it gets a response. */
export interface ReportOptions extends CallOptions {
  idempotencyKey: string;
}

/** The options of a change. */
export interface ChangeOptions extends WriteOptions {
  /**
   * The latest revision on which the change is based, sent as `If-Match`. A service that supports it refuses the change
   * (412, a conflict) if there is a newer revision. Not part of the contract.
   */
  ifLatest?: string | undefined;
}

/** The features of a service beyond the contract. */
export interface ControlFeatures {
  /** Supports `WriteOptions.idempotencyKey`: a write without a response may be repeated with the same key. */
  idempotencyKeys: boolean;
  /** Stores verdicts of smoke tests: `reportVerdict`. */
  verdicts: boolean;
  /** Stores measurements of smoke tests on a revision: `getBaseline`, `keepBaseline`. */
  baselines?: boolean | undefined;
  /** Holds revisions before traffic: `WriteOptions.holdSeconds`, `promoteRevision`, `discardRevision`. */
  holds?: boolean | undefined;
  /** Builds the commit that a write names: `WriteOptions.commit`. */
  pinsCommits?: boolean | undefined;
  /** Deploys the build of another deployment's revision: `WriteOptions.buildOf`. */
  copiesBuilds?: boolean | undefined;
  /** Scales idle agents to zero, and starts them at the next request: `WriteOptions.idleAfter`. */
  scalesToZero?: boolean | undefined;
  /** The public address of its console. */
  consoleUrl?: string | undefined;
}

/**
 * The API of the deployment control service, over HTTP or in the same process. Every failure of the service is a
 * `ServiceError`. The operations after `getRevision` go beyond the contract: a service may lack them (`isNotOffered`).
 */
export interface ControlService {
  /** POST /v2/deployments: 201 with the deployment and its first revision. */
  createDeployment(request: DeploymentCreateRequest, options?: WriteOptions): Promise<Deployment>;
  /** GET /v2/deployments/{id} */
  getDeployment(id: string, options?: CallOptions): Promise<Deployment>;
  /** PATCH /v2/deployments/{id}: if this creates a revision, it is `latest_revision_id` of the response. */
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
  /** POST /v2/deployments/{id}/revisions/{revisionId}/redeploy: creates a new revision from an old one's build. */
  redeployRevision(deploymentId: string, revisionId: string, options?: ChangeOptions): Promise<Deployment>;
  /** GET /v1/integrations/github/{integrationId}/repos */
  listRepositories(integrationId: string, options?: CallOptions): Promise<GithubRepository[]>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/build_logs */
  buildLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;
  /** POST /v1/projects/{id}/revisions/{revisionId}/deploy_logs */
  deployLogs(deploymentId: string, revisionId: string, query: LogQuery, options?: CallOptions): Promise<LogPage>;
  /**
   * POST /v2/deployments/{id}/revisions/{revisionId}/verdicts: reports a verdict, which the service only adds to the
   * history. Only for a service with `verdicts` (`features`).
   */
  reportVerdict(
    deploymentId: string,
    revisionId: string,
    report: VerdictReport,
    options: ReportOptions,
  ): Promise<unknown>;

  /**
   * GET /v2/deployments/{id}/revisions/{revisionId}/baselines/{testHash}: the measurements of a smoke test on a
   * revision; fails as missing if there are none. Only for a service with `baselines` (`features`).
   */
  getBaseline(
    deploymentId: string,
    revisionId: string,
    testHash: string,
    options?: CallOptions,
  ): Promise<StoredBaseline>;
  /** PUT of the same path: replaces the stored measurements, so it may be repeated. */
  keepBaseline(
    deploymentId: string,
    revisionId: string,
    testHash: string,
    request: BaselineRequest,
    options?: CallOptions,
  ): Promise<unknown>;

  /**
   * POST /v2/deployments/{id}/revisions/{revisionId}/promote: switches the traffic to a held revision. Repeating a
   * decision is allowed; a 409 refuses one that comes too late, or before the revision is held (`decideHold`).
   */
  promoteRevision(
    deploymentId: string,
    revisionId: string,
    request?: HoldDecisionRequest,
    options?: CallOptions,
  ): Promise<Revision>;
  /** POST /v2/deployments/{id}/revisions/{revisionId}/discard: ends a held revision, in the same way. */
  discardRevision(
    deploymentId: string,
    revisionId: string,
    request?: HoldDecisionRequest,
    options?: CallOptions,
  ): Promise<Revision>;

  /** GET /info: the features of the service; none if the endpoint is missing. Clients cache the response. */
  features(options?: CallOptions): Promise<ControlFeatures>;
}

/** What a service recorded of its revisions, beyond the contract: undefined where it has, or offers, nothing. */
export interface ControlRecords {
  /** How a revision came about, and its statuses. */
  historyOf(deploymentId: string, revisionId: string, options?: CallOptions): Promise<HistoryEntry | undefined>;
  /** The verdicts on a revision, newest first. */
  verdictsOf(
    deploymentId: string,
    revisionId: string,
    options?: CallOptions,
  ): Promise<readonly StoredVerdict[] | undefined>;
}

/** The audit log of a service, beyond the contract. */
export interface AuditLog {
  /** When a deployment was deleted; undefined where that is not recorded. */
  deletionOf(deploymentId: string, options?: CallOptions): Promise<string | undefined>;
}

/** The operations that only some callers need, all beyond the contract. */
export interface FullControlService extends ControlService {
  /** DELETE /v2/deployments/{id}: asynchronous. Its tracing project keeps the name unless it is deleted too. */
  deleteDeployment(id: string, query: { deleteTracingProject: boolean }, options?: CallOptions): Promise<void>;
  /** POST /v2/deployments/{id}/revisions/{revisionId}/interruption: interrupts a running rollout. */
  interruptRevision(deploymentId: string, revisionId: string, options?: CallOptions): Promise<void>;
  /** POST /v2/deployments/{id}/upload-url: a URL for a source tarball, and the path to name it by afterwards. */
  requestUpload(deploymentId: string, options?: CallOptions): Promise<UploadTarget>;
  /** POST /v2/deployments/{id}/push-token: credentials to push an image, for `internal_docker` only. */
  requestPushToken(deploymentId: string, options?: CallOptions): Promise<PushToken>;
}
