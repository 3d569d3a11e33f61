import type { ColumnType, Generated, Kysely, Selectable } from 'kysely';
import type { DeploymentStatus } from '../../../contract/control/deployment.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { HoldDecision } from '../../../contract/control/revision.ts';
import type { Secret, SecretReference } from '../../../contract/control/secret.ts';
import type { Source, SourceConfigRequest, SourceRevisionConfigRequest } from '../../../contract/control/source.ts';
import type { DatabaseState, DeletionState } from '../deployments/status.ts';
import type { ListenerWork } from '../listeners/listener-work.ts';
import type {
  ActorKind,
  ApiKeysTable,
  AuditTable,
  Fixed,
  Json,
  KeyTenantsTable,
  SessionsTable,
  TenantsTable,
  TrustPoliciesTable,
  UsedTokensTable,
  WriteKeysTable,
} from './access-tables.ts';
import type { BaselinesTable, HealthFiguresTable, TracedRunsTable, VerdictsTable } from './report-tables.ts';

/** The users of this machine that run deployments' builds and agents. */
export interface AgentUsersTable {
  deployment_id: ColumnType<string, string, never>;
  /** The number of the user and of its group. */
  uid: ColumnType<string, string, never>;
}

/** The requested state of a deployment, and the two revisions it points at. */
export interface DeploymentsTable {
  id: Fixed<string>;
  tenant_id: Fixed<string>;
  name: Fixed<string>;
  source: Fixed<Source>;
  source_config: Json<SourceConfigRequest>;
  source_revision_config: Json<SourceRevisionConfigRequest>;
  secrets: Json<Secret[]>;
  secret_references: ColumnType<SecretReference[] | null, string | null, string | null>;
  database_state: DatabaseState;
  /** The name of its agents' database, and of the role that owns it. */
  database_name: string;
  database_password: string;
  status: DeploymentStatus;
  latest_revision_id: string | null;
  active_revision_id: string | null;
  image_version: string | null;
  /** Whether its secrets hold the mark of a preview of a pull request. */
  is_preview: Generated<boolean>;
  /** After how many seconds without a request its agent is scaled to zero; null for never. */
  idle_after_seconds: ColumnType<number | null, number | null | undefined, number | null>;
  deletion: Generated<DeletionState>;
  delete_tracing_project: Generated<boolean>;
  deletion_problem: Generated<string | null>;
  tracing_project_id: ColumnType<string | null, string | null, never>;
  /** `listener_id` of `source_config`, as a foreign key. */
  listener_id: ColumnType<string | null, never, never>;
  created_at: Fixed<Date>;
  updated_at: Date;
}

/** Why a revision exists; `unknown` where it is older than the records of it. */
export type CauseKind = 'create' | 'patch' | 'push' | 'redeploy' | 'rollback' | 'unknown';

/** A revision with all that building and running it needs, as requested at its creation. */
export interface RevisionsTable {
  id: Fixed<string>;
  /** Increases with every revision; orders those of one deployment. */
  sequence: Generated<string>;
  deployment_id: Fixed<string>;
  status: RevisionStatus;
  status_message: string | null;
  source: Fixed<Source>;
  source_config: Json<SourceConfigRequest>;
  source_revision_config: Json<SourceRevisionConfigRequest>;
  secrets: Json<Secret[]>;
  secret_references: ColumnType<SecretReference[] | null, string | null, string | null>;
  repo_commit_sha: string | null;
  /** `sha256:<hex>` of the tarball at its `source_tarball_path`. */
  source_tarball_digest: Fixed<string | null>;
  /** The folder of its build on this machine; null before it is built and after it was removed. */
  build_folder: string | null;
  /** What its build warned of: the agent may lack something. */
  build_warnings: string[];
  /** The revision whose build this one uses. */
  redeploy_of: Fixed<string | null>;
  /** The revision of another deployment whose build is copied, instead of a build. */
  build_of: string | null;
  /** `sha256:<hex>` of the content of its build; null before that was copied. */
  build_digest: string | null;
  cause: Fixed<CauseKind>;
  cause_actor: Fixed<ActorKind | 'unknown'>;
  cause_key_id: Fixed<string | null>;
  cause_key_name: Fixed<string | null>;
  /** The commit's message, author and time, as git reported them when it was checked out. */
  commit_subject: string | null;
  commit_author: string | null;
  commit_authored_at: Date | null;
  /** For how long it is held before it gets traffic; null for a revision without a hold. */
  hold_seconds: Fixed<number | null>;
  /** The end of its hold, set when it is healthy. */
  hold_ends_at: ColumnType<Date | null, never, Date>;
  hold_decision: ColumnType<HoldDecision | null, never, HoldDecision>;
  hold_why: ColumnType<string | null, never, string | null>;
  created_at: Fixed<Date>;
  updated_at: Date;
}

/** Every status of every revision, with its time. */
export interface RevisionEventsTable {
  id: Generated<string>;
  revision_id: Fixed<string>;
  status: Fixed<RevisionStatus>;
  message: Fixed<string | null>;
  at: Fixed<Date>;
}

export type LogKind = 'build' | 'deploy';

export interface LogLinesTable {
  /** Orders the lines and is the cursor between pages. */
  id: Generated<string>;
  revision_id: Fixed<string>;
  kind: Fixed<LogKind>;
  level: Fixed<string>;
  message: Fixed<string>;
  at: Fixed<Date>;
}

export interface ListenersTable {
  id: Fixed<string>;
  tenant_id: Fixed<string>;
  version: string | null;
  compute_type: Fixed<string>;
  compute_id: Fixed<string>;
  compute_config: Json<{ k8s_namespaces?: string[] | null | undefined }>;
  /** Its last request about work, to the minute; null before the first one. */
  last_report_at: ColumnType<Date | null, never, Date>;
  created_at: Fixed<Date>;
  updated_at: Date;
}

/** How a claim ended. `abandoned`: it left something in the cluster, so that the live revision must be restored. */
export type ClaimEnd = 'DEPLOYED' | 'DEPLOY_FAILED' | 'REMOVED' | 'released' | 'abandoned';

/** The last claim on each deployment. A new one has a new id, so that reports of the previous holder are recognized. */
export interface ListenerClaimsTable {
  deployment_id: Fixed<string>;
  id: string;
  listener_id: string;
  work: ListenerWork;
  /** Null where the deployment is to be removed from the cluster. */
  revision_id: string | null;
  /** Whether another holder had this revision before, so that the state before it is unknown. */
  is_resumed: boolean;
  /** The name of the process that holds it. */
  holder: string;
  /** The namespace of the deployment since its first claim: it is fixed. */
  namespace: string | null;
  /** The duration of the lease in milliseconds. */
  lease_ms: number;
  /** The number of the last stored line of the deploy log. */
  log_sequence: ColumnType<string, string | number, string | number>;
  claimed_at: Date;
  /** The end of the lease; of an abandoned claim, the time from which the restoration is available. */
  expires_at: Date;
  /** Null until it ends, also after its lease has expired. */
  ended_as: ClaimEnd | null;
}

export interface IntegrationsTable {
  id: Fixed<string>;
  tenant_id: Fixed<string>;
  /** GitHub's number of the installation. */
  installation_id: string;
  name: string;
  created_at: Fixed<Date>;
  /** When it was unbound from the tenant; null while it is bound. */
  unbound_at: Date | null;
}

/** An installation of the App, as of the last request to GitHub. */
export interface GithubInstallationsTable {
  id: Fixed<string>;
  account: string;
  is_suspended: boolean;
  is_gone: boolean;
  seen_at: Date;
}

export interface RepositoriesTable {
  integration_id: Fixed<string>;
  /** GitHub's number of the repository. */
  id: Fixed<string>;
  name: string;
  owner: string;
  url: string;
  default_branch: string | null;
}

/** Tracing projects; one has its deployment's name and may outlive the deployment. */
export interface TracingProjectsTable {
  id: Fixed<string>;
  tenant_id: Fixed<string>;
  name: Fixed<string>;
  deployment_id: string | null;
  created_at: Fixed<Date>;
}

/** The control service's tables, in the Postgres schema `control`. */
export interface ControlTables extends SourceTables {
  tenants: TenantsTable;
  api_keys: ApiKeysTable;
  key_tenants: KeyTenantsTable;
  sessions: SessionsTable;
  trust_policies: TrustPoliciesTable;
  used_tokens: UsedTokensTable;
  audit: AuditTable;
  agent_users: AgentUsersTable;
  deployments: DeploymentsTable;
  revisions: RevisionsTable;
  revision_events: RevisionEventsTable;
  verdicts: VerdictsTable;
  baselines: BaselinesTable;
  log_lines: LogLinesTable;
  listeners: ListenersTable;
  listener_claims: ListenerClaimsTable;
  integrations: IntegrationsTable;
  github_installations: GithubInstallationsTable;
  repositories: RepositoriesTable;
  tracing_projects: TracingProjectsTable;
  traced_runs: TracedRunsTable;
  health_figures: HealthFiguresTable;
  write_keys: WriteKeysTable;
}

/** A connection, or a transaction, on the control service's tables. */
export type ControlDatabase = Kysely<ControlTables>;

export type DeploymentRecord = Selectable<DeploymentsTable>;
export type RevisionRecord = Selectable<RevisionsTable>;
export type RevisionEvent = Selectable<RevisionEventsTable>;
export type LogLine = Selectable<LogLinesTable>;
export type ListenerRecord = Selectable<ListenersTable>;
export type ListenerClaimRecord = Selectable<ListenerClaimsTable>;
export type IntegrationRecord = Selectable<IntegrationsTable>;
export type RepositoryRecord = Selectable<RepositoriesTable>;

/** An upload address, and the tarball that was uploaded there. */
interface UploadsTable {
  /** `uploads/<deployment id>/<random>.tar.gz`; the file of this name below the data folder. */
  object_path: Fixed<string>;
  deployment_id: Fixed<string>;
  expires_at: Fixed<Date>;
  /** `sha256:<hex>` of the tarball; null until one was stored. */
  digest: string | null;
  bytes: string | null;
  stored_at: Date | null;
  /** When retention removed its file. */
  removed_at: Date | null;
  created_at: Fixed<Date>;
}

/** The last observed head of a deployment's branch: all its pushes are processed. */
interface WatchedBranchesTable {
  deployment_id: Fixed<string>;
  ref: string;
  head: string;
  seen_at: Date;
}

interface SourceTables {
  uploads: UploadsTable;
  watched_branches: WatchedBranchesTable;
}
