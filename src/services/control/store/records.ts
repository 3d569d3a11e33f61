import type { IdleAfter } from '../../../contract/control/deployment.ts';
import { previewMark } from '../../../contract/control/field-values.ts';
import type { Source } from '../../../contract/control/source.ts';
import type { RequestedDeployment } from '../deployments/validation/requested-deployment.ts';
import type { DeploymentRecord, RevisionRecord } from './tables.ts';

export interface NewDeployment extends RequestedDeployment {
  name: string;
  source: Source;
  /** The seconds of the hold of its first revision. */
  hold?: number | undefined;
  /** What its first revision is built from. */
  build?: PinnedBuild | undefined;
  idleAfter?: IdleAfter | undefined;
}

type CommitColumns = Pick<
  RevisionRecord,
  'repo_commit_sha' | 'commit_subject' | 'commit_author' | 'commit_authored_at'
>;

/** A build of an earlier revision that a new one uses. */
export interface ReusedBuild
  extends CommitColumns, Pick<RevisionRecord, 'build_folder' | 'build_warnings' | 'build_of' | 'build_digest'> {
  redeploy_of: string;
}

/** The commit that a new revision is built from, or the build of another deployment's revision that it copies. */
export interface PinnedBuild extends CommitColumns {
  build_of: string | null;
}

export interface DeploymentChange {
  wanted: RequestedDeployment;
  /** Whether a revision is created, and from which build. */
  revision: 'none' | 'new' | ReusedBuild | PinnedBuild;
  /** The seconds of the hold of that revision. */
  hold?: number | undefined;
  /** Absent: it stays as it is. */
  idleAfter?: IdleAfter | undefined;
}

export interface DeploymentView {
  deployment: DeploymentRecord;
  latest: RevisionRecord;
}

/** The columns of a requested state that a deployment has beside those of a revision. */
export const deploymentColumns = (wanted: RequestedDeployment) => ({
  ...requestedColumns(wanted),
  is_preview: isPreview(wanted),
});

export const isPreview = ({ secrets }: Pick<RequestedDeployment, 'secrets'>): boolean =>
  secrets.some(({ name }) => name === previewMark);

/** The column of a requested time until an agent is scaled to zero; none where it stays as it is. */
export const idleColumn = (idleAfter: IdleAfter | undefined) =>
  idleAfter === undefined ? {} : { idle_after_seconds: idleAfter === 'never' ? null : idleAfter };

/** The columns of a requested state for an insert or update. */
export const requestedColumns = (wanted: RequestedDeployment) => ({
  source_config: JSON.stringify(wanted.source_config),
  source_revision_config: JSON.stringify(wanted.source_revision_config),
  secrets: JSON.stringify(wanted.secrets),
  secret_references: wanted.secret_references && JSON.stringify(wanted.secret_references),
});
