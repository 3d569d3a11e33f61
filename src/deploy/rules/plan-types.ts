import type { Deployment, DeploymentCreateRequest, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import type { ImageLookup } from '../../contract/control/container.ts';
import type { PatchEffect } from '../../contract/control/deployment-field.ts';
import type { Coded } from '../../kit/coded.ts';
import type { RequestedCommit, UnknownCommit } from './commit.ts';

/** Something that a person may choose: an integration, or a listener. */
export interface Choice {
  id: string;
  name: string;
}

/** The lookup result for an id that was not given: the one match, or why there is not exactly one. */
export type IdLookup =
  | { kind: 'one'; id: string; note: PlanNote }
  /** Several fit: a person has to choose. */
  | { kind: 'choices'; choices: readonly Choice[] }
  /** None is needed or none can be found; the request is sent without one. */
  | { kind: 'none'; note: PlanNote };

/** The properties of a packed folder that a plan uses. */
export interface TarballSummary {
  /** `sha256:` and the hex digest of its bytes. */
  digest: string;
  /** Bytes, gzipped. */
  size: number;
  /** Files and links in it. */
  files: number;
  /** What our own rules kept out of it. */
  leftOut: readonly string[];
}

/** What runs, as far as it was looked at. */
export interface ObservedState {
  /** Absent: there is none yet. */
  deployment?: Deployment | undefined;
  /** The revision that serves (`active_revision_id`). */
  live?: Revision | undefined;
  /** The newest revision (`latest_revision_id`): the only one that a Deployment's `source_revision_config` describes. */
  latest?: Revision | undefined;
  /** Further revisions that are on their way, newest first, where the service lists them. */
  onTheirWay?: readonly Revision[] | undefined;
  /** The requested commit; only `github` has one. */
  commit: RequestedCommit;
  /** The requested folder, packed; only `internal_source` has one, if the folder is readable. */
  tarball?: TarballSummary | undefined;
  /** The requested image, where it was looked up: only one that is named by a tag. */
  image?: ImageLookup | undefined;
  /** Looked for only where a deployment is to be created without the id. */
  integration?: IdLookup | undefined;
  listener?: IdLookup | undefined;
}

/** One field that will change, as it may be shown to anybody: a secret's values are never in it. */
export interface FieldChange {
  /**
   * Dotted path in the document's spelling, for example `source_revision_config.repo_ref`; `secrets.NAME` for one
   * secret.
   */
  field: string;
  /** What is there, in words for a person; `undefined` where nothing is. Secrets: `set`, never a value. */
  from: string | undefined;
  to: string | undefined;
  makesRevision: boolean;
  why: ChangeReason;
}

interface RevisionStatus {
  revisionId: string;
  status: string;
}

/** Why a revision is made, adopted, or not needed. */
export interface RebuildFacts
  extends
    Record<'rebuild-always' | 'rebuild-never' | 'no-revision' | 'live-commit-unreported', unknown>,
    Record<'image-same' | 'folder-same' | 'folder-differs' | 'nothing-uploaded' | 'digest-unreported', unknown> {
  'commit-unknown': { because: UnknownCommit };
  'commit-live': { commit: string };
  'commit-not-live': { commit: string; live: string | undefined };
  'image-live': { image: string };
  /** `mayLack`: the live revision is of the same commit, and maybe not of the same settings. */
  ended: RevisionStatus & { commit?: string; mayLack?: true };
  /** Without a commit nothing differs from the revision. */
  'on-its-way': RevisionStatus & { commit?: string };
  'commit-unreported': RevisionStatus;
}
export type RebuildReason = Coded<RebuildFacts>;

/** Why nothing is done, or something again: the reason, or the obstacle that does not matter here. */
export type PlanReason = RebuildReason | Obstacle;

/** Why a field is sent. */
export interface ChangeFacts
  extends
    Record<'created' | 'uploaded-later' | 'resource-differs' | 'resource-default' | 'reference-dropped', unknown>,
    Record<`secret-${'missing' | 'differs' | 'hidden' | 'dropped'}` | 'secrets-unlisted', unknown> {
  differs: { patch: PatchEffect };
  restated: { reason: PlanReason };
  uploaded: { reason: PlanReason };
}
export type ChangeReason = Coded<ChangeFacts>;

/** A field that stands in the way, and why. */
export type ObstacleFacts = { [Code in keyof FieldFacts]: { field: string } & FieldFacts[Code] };
export type Obstacle = Coded<ObstacleFacts>;

interface FieldFacts extends Record<
  | 'deployments-unlisted'
  | 'not-a-preview'
  | 'not-pinned'
  | 'source-unreported'
  | 'secrets-unlisted'
  | 'secret-lost'
  | 'resource-lost',
  unknown
> {
  missing: { source: string };
  choices: { choices: readonly Choice[] };
  fixed: { from: string | undefined; to: string | undefined };
  'other-source': { from: string; to: string };
  'other-name': { name: string };
  'ambiguous-name': { name: string | undefined; ids: readonly string[] };
  'being-deleted': { status: string };
  'tag-on-push': { ref: string; isRequested: boolean };
  'awaits-folder': { revisionId: string | undefined; isForbidden: boolean };
  'nothing-live': { ended: RevisionStatus | undefined };
  /** `problem` is that of a rule for all resources together. */
  resources: { problem: string };
  'other-commit': { commit: string; head: string | undefined };
  /** Of a plan that a deploy is bound to: what it is of, how old it is, and what changed since. */
  'plan-of-other': { what: 'service' | 'tenant' | 'deployment' | 'name'; planned: string; now: string | null };
  'plan-tenant-unknown': unknown;
  'plan-commit-unknown': unknown;
  'plan-too-old': { madeAt: string; maxHours: number };
  'plan-commit': { planned: string | null; now: string | null };
  'plan-changed': { part: 'file' | 'deployment' };
  'plan-revision': { isLive: boolean; planned: string | null; now: string | null };
  'plan-created': { id: string };
  'plan-differs': { planned: readonly string[]; now: readonly string[] };
  /** `name`: the deployment of the environment before. */
  'earlier-missing': { name: string; matches: number };
  'earlier-not-live': { name: string };
  'earlier-other-commit': { name: string; commit: string | undefined; live: string | undefined };
  'earlier-unproven': { name: string; commit: string; verdict: string | undefined };
}

/** What a person has to know of a plan. */
export interface PlanNoteFacts {
  'built-to-be-sure': { reason: RebuildReason };
  'commit-unreported': RevisionStatus;
  'newer-waits': { revisionId: string | undefined; commit: string };
  'newest-ended': RevisionStatus;
  'newest-takes-over': RevisionStatus;
  'image-unpinned': { image: string | undefined; why: string };
  'later-effect': { fields: readonly string[] };
  'field-unreported': { field: string };
  'resource-unused': { field: string };
  'resource-unknown': { field: string };
  'folder-unseen': unknown;
  'variables-left-out': { paths: readonly string[] };
  'left-out': { paths: readonly string[] };
  'integration-found': { name: string; /** It says that it reaches the repository. */ reaches: boolean };
  'listener-found': { name: string };
  'ids-unlisted': { of: 'integration' | 'listener' };
  'ids-absent': { of: 'integration' | 'listener' };
  'repository-unreached': { repoUrl: string };
}
export type PlanNote = Coded<PlanNoteFacts>;

/** A revision in progress that already has the requested content: it is followed instead of making another. */
interface Adoption {
  /** The revision's id. */
  adopt?: string;
  /** The adopted revision does not report its commit yet: observe again before treating it as the requested one. */
  unreportedCommit?: true;
}

/** A tarball that is uploaded; its path, which the service hands out then, is named by the PATCH that follows. */
interface PlannedUpload {
  upload?: { digest: string };
}

/** What will be done and why. Only `create` and `patch` write. */
export type Plan =
  | ({
      kind: 'create';
      request: DeploymentCreateRequest;
      changes: readonly FieldChange[];
      notes: readonly PlanNote[];
    } & PlannedUpload)
  | ({
      kind: 'patch';
      deploymentId: string;
      /** Without the path of an upload, which is not known yet. */
      request: DeploymentPatchRequest;
      changes: readonly FieldChange[];
      makesRevision: boolean;
      /** The latest revision before the PATCH, to resolve a lost response. */
      formerLatestRevisionId: string | null;
      notes: readonly PlanNote[];
    } & Adoption &
      PlannedUpload)
  | ({ kind: 'none'; deploymentId: string; why: PlanReason; notes: readonly PlanNote[] } & Adoption)
  | { kind: 'impossible'; obstacles: readonly Obstacle[] };
